"""The page in Debian's Chromium: it measures what it says, and fails in words."""

import hashlib
import json
import re
import shutil

import numpy as np
import pytest
from PIL import Image

from export import report as report_command
from export.web_site import writing
from measuring import benchmark_report, latency_statistics
from tests.command_line.in_process import call
from tests.export import reports
from tests.web.browsers import chromium, measure, opened, report, results, serving, until
from tests.web.conftest import write_bundle

pytestmark = [pytest.mark.once, pytest.mark.tensorflow]

AXE = writing.PAGE.parent / "node_modules" / "axe-core" / "axe.min.js"
QUICK = "?blocks=2&runs=3&warmup=5&cooldown=0&pairs=int8"


@pytest.fixture(scope="module")
def browser(playwright):
    options = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    with chromium(playwright, *options, "--host-resolver-rules=MAP phone.test 127.0.0.1") as started:
        yield started


def accessibility_faults(page):
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    return [f"{fault['id']}: {fault['nodes'][0]['html']}" for fault in found]


def test_it_measures_and_its_report_is_like_any_other(browser, site, tmp_path):
    with serving(site, collect=tmp_path / "run") as server, opened(browser, server.address + QUICK) as page:
        told = measure(page)
        assert accessibility_faults(page) == []
        page.click("#send")
        page.wait_for_selector("#shared >> text=/^Sent/")
        assert page.faults == []
        assert page.hosts == {server.address.split("/")[2]}
    assert "int8.tflite against original.tflite" in told
    assert "WRONG" not in told
    (file,) = (tmp_path / "run").iterdir()
    measured = json.loads(file.read_text())
    reports.validate(measured)
    original, int8 = measured["models"]
    for model in (original, int8):
        assert model["reference"]["right"] and model["reference"]["samples"] == 6
        assert model["threads"] == {"requested": 1, "used": 1, "busy_cores": None}
        assert model["accelerator"]["used"] == "cpu"
        latencies = [latency for block in model["blocks_ms"] for latency in block]
        assert len(latencies) == 2 * 3
        assert model["latency_ms"] == pytest.approx(latency_statistics.summarize(latencies), rel=1e-12)
    ratio = latency_statistics.ratio_of_medians(original["blocks_ms"], int8["blocks_ms"])
    assert measured["pairs"][0]["ratio"] == {"of": "median", **ratio}
    assert all(entry in measured["warnings"] for entry in benchmark_report.find_warnings(measured))
    assert 0 < measured["device"]["clock_resolution_ms"] <= 1
    call(report_command, f"--workdir={tmp_path / 'run'}", f"--output={tmp_path / 'page.html'}")
    page_of_host = (tmp_path / "page.html").read_text()
    assert "LiteRT.js" in page_of_host and "0.005 s of uncounted runs" in page_of_host


slow = pytest.mark.slow  # all but the test above


@slow
def test_threads_are_those_that_were_asked_for(browser, site):
    with serving(site) as server, opened(browser, server.address + QUICK + "&threads=2") as page:
        assert page.evaluate("crossOriginIsolated")
        if page.evaluate("navigator.hardwareConcurrency") < 2:
            pytest.skip("needs two cores")
        measure(page)
        found = report(page)
    assert [model["threads"]["used"] for model in found["models"]] == [2, 2]
    assert not {"threads", "fallback"} & {entry["code"] for entry in found["warnings"]}
    assert "threaded" in found["runtime"]["packages"]["program"]


@slow
def test_a_static_host_under_a_path_gets_threads_after_loading_again(browser, site):
    """A server that sends no headers: those come from the page's own service worker."""
    import functools
    import http.server
    import threading

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=site.parent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/{site.name}/"
        with opened(browser, address + QUICK) as page:
            assert not page.evaluate("crossOriginIsolated")
            assert page.inner_text("#browser dd").startswith(
                "1, as the server sends no COOP and COEP headers"
            )
            page.wait_for_selector("#offline >> text=Works offline now")
            page.click("#reload")
            page.wait_for_selector("#content")
            until(page, "crossOriginIsolated")
            assert "WRONG" not in measure(page)
            assert page.is_hidden("#send")
        server.shutdown()


@slow
def test_it_works_offline_once_loaded(browser, site):
    with serving(site) as server, opened(browser, server.address + QUICK) as page:
        page.wait_for_selector("#offline >> text=Works offline now")
        server.shutdown()
        server.server_close()
        page.reload()
        page.wait_for_selector("#content")
        assert "Outputs\tcorrect\tcorrect" in measure(page)


@slow
def test_a_newer_site_at_the_same_address_is_offered(browser, site, bundle, tmp_path):
    changed = shutil.copytree(bundle, tmp_path / "bundle")
    content = json.loads((changed / "bundle.json").read_text())
    (changed / "bundle.json").write_text(json.dumps({**content, "name": "newer"}))
    writing.write(changed, tmp_path / "site")
    with serving(site) as server, opened(browser, server.address + QUICK) as page:
        page.wait_for_selector("#offline >> text=Works offline now")
        server.shutdown()
        server.server_close()
        with serving(tmp_path / "site", server.server_port):
            page.reload()
            page.wait_for_selector("#newer")
            assert page.inner_text("h1") == "tiny"
            page.click("#newer-reload")
            page.wait_for_selector("h1 >> text=newer")
            assert "Outputs\tcorrect\tcorrect" in measure(page)


@slow
def test_wrong_outputs_are_shown_as_wrong(browser, bundle, tmp_path):
    """A bundle with another model than its reference was computed with."""
    changed = shutil.copytree(bundle, tmp_path / "bundle")
    content = json.loads((changed / "bundle.json").read_text())
    reference = next(model["reference"] for model in content["models"] if model["file"] == "int8.tflite")
    rows = np.fromfile(changed / reference["file"], "<f4").reshape(6, 10)
    rows[2, 3] += 10
    (changed / reference["file"]).write_bytes(rows.tobytes())
    reference["sha256"] = hashlib.sha256(rows.tobytes()).hexdigest()
    (changed / "bundle.json").write_text(json.dumps(content))
    writing.write(changed, tmp_path / "site")
    with serving(tmp_path / "site") as server, opened(browser, server.address + QUICK) as page:
        told = measure(page)
        found = report(page)
    assert "int8.tflite computes WRONG OUTPUTS here" in told
    assert "Outputs\tcorrect\tWRONG" in told
    assert found["models"][1]["reference"]["wrong_samples"] == 1
    assert "wrong_answers" in {entry["code"] for entry in found["warnings"]}


@slow
def test_a_damaged_model_is_told_and_the_others_are_measured(browser, site, tmp_path):
    damaged = shutil.copytree(site, tmp_path / "site")
    model = damaged / "bundle" / "dynamic.tflite"
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 1
    model.write_bytes(content)
    address = QUICK.replace("&pairs=int8", "")
    with serving(damaged) as server, opened(browser, server.address + address) as page:
        told = measure(page)
        found = report(page)
    assert "pair dynamic was not measured: dynamic.tflite: bundle/dynamic.tflite is damaged" in told
    assert [pair["mobile"] for pair in found["pairs"]] == ["int8.tflite"]
    reports.validate(found)


@slow
@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("bundle/bundle.json", b"{", r"bundle.json is damaged: it has 1 bytes"),
        ("site.json", b"{", r"site.json is damaged"),
        ("site.json", b'{"site_version": 7}', r"site_version=7 must be 1"),
    ],
)
def test_a_damaged_bundle_is_told(browser, site, tmp_path, name, content, told):
    damaged = shutil.copytree(site, tmp_path / "site")
    with serving(damaged) as server:  # which has read its site already
        (damaged / name).write_bytes(content)
        with opened(browser, server.address, ready="#problem") as page:
            assert re.search(told, page.inner_text("#problem"))
            assert page.is_hidden("#content")


@slow
def test_cancelling_keeps_what_is_finished(browser, site):
    with (
        serving(site) as server,
        opened(browser, server.address + "?blocks=2&runs=3&warmup=5&cooldown=400") as page,
    ):
        page.click("#run")
        until(page, "document.getElementById('progress').value > 0.5")
        page.click("#cancel")
        told = results(page)
        found = report(page)
        assert "stopped: by the user; 1 of 2 pairs were measured" in told
        assert len(found["pairs"]) == 1
        page.click("#run")  # and it can be run again
        until(page, "document.getElementById('progress').value === 0")
        page.click("#cancel")
        page.wait_for_selector("#numbers >> text=Nothing was measured")


@slow
def test_rounds_in_a_hidden_page_are_measured_again(browser, site):
    hide = """hidden => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    with serving(site) as server:
        address = server.address + "?blocks=3&runs=3&warmup=5&cooldown=300&pairs=int8"
        with opened(browser, address) as page:
            page.click("#run")
            until(page, "document.getElementById('progress').value > 0")
            page.evaluate(hide, True)
            page.wait_for_selector("#status >> text=Paused: the page is hidden")
            page.evaluate(hide, False)
            results(page)
            found = report(page)
    assert len(found["models"][0]["blocks_ms"]) == 3
    hidden = [entry["message"] for entry in found["warnings"] if entry["code"] == "hidden"]
    assert hidden == ["the page was hidden while int8 was measured: 1 rounds were repeated"]


@slow
def test_what_the_browser_lacks_is_told(browser, site):
    """WebGPU was asked for by the address where there is none."""
    with serving(site) as server, opened(browser, server.address + QUICK + "&accelerator=webgpu") as page:
        assert page.is_disabled("option[value=webgpu]")
        assert "WebGPU was requested but no WebGPU device" in measure(page)


@slow
def test_a_page_by_plain_http_measures_on_one_thread(browser, site):
    with (
        serving(site) as server,
        opened(browser, server.address.replace("127.0.0.1", "phone.test") + QUICK) as page,
    ):
        assert not page.evaluate("isSecureContext")
        assert page.inner_text("#browser dd >> nth=0") == "1, as threads need https"
        assert "Outputs\tcorrect\tcorrect" in measure(page)
        assert page.inner_text("#offline") == "Offline use needs https."


@slow
def test_settings_out_of_their_limits_are_told(browser, site):
    with serving(site) as server, opened(browser, server.address + QUICK) as page:
        page.fill("[name=blocks]", "0")
        page.click("#run")
        assert page.inner_text("#form-problem") == "Blocks must be a whole number from 1 to 1000"
        assert page.evaluate("document.activeElement.name") == "blocks"


@slow
def test_pictures_are_classified(browser, site, bundle, tmp_path):
    content = json.loads((bundle / "bundle.json").read_text())
    best = [content["class_names"][row.argmax()] for row in correct(bundle, 0)[0]]
    with serving(site) as server, opened(browser, server.address) as page:
        for number in range(2):
            page.click("#next-image")
            page.wait_for_selector(f"#classify-note >> text=Its label: {content['images'][number]['label']}")
            assert page.inner_text("#classes ol li >> nth=0").split()[0] == best[number]
        # A photo of the first image, in colour, and eight times as large.
        with Image.open(bundle / "images/000.png") as image:
            image.convert("RGB").resize((64, 64), Image.Resampling.NEAREST).save(tmp_path / "photo.png")
        page.set_input_files("#photo", tmp_path / "photo.png")
        page.wait_for_selector(f"#classes ol li >> nth=0 >> text='{best[0]}'")
        (tmp_path / "no.png").write_text("no picture")
        page.set_input_files("#photo", tmp_path / "no.png")
        page.wait_for_selector("#classify-note >> text=no.png is damaged")
        page.click("#camera")
        page.wait_for_selector("#camera[aria-pressed=true]")
        until(page, "document.getElementById('video').videoWidth > 0")
        page.click("#camera")
        page.wait_for_selector("#camera[aria-pressed=false]")
        assert page.inner_text("#classify-note") == ""
        assert page.faults == []


def correct(bundle, number):
    """The correct outputs of a model of a bundle: a list of an array (images, ...) for each output."""
    content = json.loads((bundle / "bundle.json").read_text())
    reference = content["models"][number]["reference"]
    rows = np.fromfile(bundle / reference["file"], "<f4").reshape(len(content["images"]), -1)
    shapes = [part["shape"] for part in reference["outputs"]]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = np.split(rows, ends[:-1], 1)
    return [part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)]


@slow
@pytest.mark.parametrize(("artifact", "scheme"), [("dynamic", "dark"), ("best", "light")])
def test_a_detector_is_measured_and_shows_boxes(browser, detector, tmp_path, artifact, scheme):
    bundle = write_bundle(detector, tmp_path / "bundle", [artifact], images=3)
    writing.write(bundle, tmp_path / "site")
    quick = QUICK.replace("int8", artifact)
    with (
        serving(tmp_path / "site") as server,
        opened(browser, server.address + quick, color_scheme=scheme) as page,
    ):
        assert page.inner_text("#kind") == "detection; they take pictures of 32 × 32 pixels, grey"
        told = measure(page)
        assert "Outputs\tcorrect\tcorrect" in told and "same detections" in told
        found = report(page)
        page.click("#next-image")
        page.wait_for_selector("canvas.boxes >> nth=1")
        drawn = [page.get_attribute(f"canvas.boxes >> nth={i}", "aria-label") for i in range(2)]
        listed = page.locator("#classes > div:first-child li").all_inner_texts()
        assert accessibility_faults(page) == []
        assert page.faults == []
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.screenshot(path=tmp_path / "boxes.png", full_page=True)
    reports.validate(found)
    assert found["pairs"][0]["agreement"]["detection_agreement"] > 0.6
    if artifact == "dynamic":
        assert [tensor["name"] for tensor in found["models"][0]["outputs"]] == ["boxes", "logits"]
        scores = 1 / (1 + np.exp(-correct(bundle, 0)[1][0]))
        classes = np.nonzero(scores >= 0.5)[1][np.argsort(-scores[scores >= 0.5])]
        assert len(classes) > 0
        assert [text.split()[0] for text in listed] == [str(one) for one in classes]
        assert drawn[0] == f"The picture with {len(classes)} boxes: {', '.join(listed)}"


@slow
def test_clips_are_measured_and_a_picture_is_not_classified(browser, video_model, tmp_path):
    bundle = write_bundle(video_model, tmp_path / "bundle", ["dynamic"], images=3)
    writing.write(bundle, tmp_path / "site")
    address = QUICK.replace("int8", "dynamic")
    with serving(tmp_path / "site") as server, opened(browser, server.address + address) as page:
        kind = "video classification; they take clips of 4 frames of 12 × 12 pixels, grey"
        assert page.inner_text("#kind") == kind
        refusal = "These models take clips of 4 frames: they say nothing of a single picture."
        assert page.inner_text("#try-note") == refusal
        assert page.is_hidden("#photo") and page.is_hidden("#picture")
        assert "Outputs\tcorrect\tcorrect" in measure(page)
        found = report(page)
        assert accessibility_faults(page) == []
    reports.validate(found)
    assert found["models"][0]["inputs"][0]["shape"] == [1, 4, 12, 12, 1]
    labels = [entry["label"] for entry in json.loads((bundle / "bundle.json").read_text())["images"]]
    accuracy = np.mean(correct(bundle, 0)[0].argmax(-1) == labels)
    assert found["models"][0]["metrics"]["accuracy"] == pytest.approx(accuracy)


@slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_small_phone_reads_well_and_does_not_jump(browser, site, scheme):
    with (
        serving(site) as server,
        opened(browser, server.address + QUICK, color_scheme=scheme, locale="de-DE") as page,
    ):
        page.evaluate(
            """() => new PerformanceObserver(list => list.getEntries().forEach(entry => {
                window.shift = (window.shift ?? 0) + (entry.hadRecentInput ? 0 : entry.value);
            })).observe({ type: "layout-shift", buffered: true })"""
        )
        assert accessibility_faults(page) == []
        told = measure(page)
        page.click("#next-image")
        page.wait_for_selector("#classify-note >> text=Its label")
        assert accessibility_faults(page) == []
        assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [360, 360]
        assert page.evaluate("window.shift ?? 0") < 0.05
        assert re.search(r"Median\t\d+,\d+ ms", told)  # numbers as Germans write them


@slow
def test_keys_alone_are_enough(browser, site):
    with serving(site) as server, opened(browser, server.address + QUICK) as page:
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "run":
                break
        page.keyboard.press("Enter")
        results(page)
        assert page.evaluate("document.activeElement.id") == "results-title"


@slow
def test_emulated_webgpu_is_named(playwright, site):
    options = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan")
    with (
        chromium(playwright, *options) as browser,
        serving(site) as server,
        opened(browser, server.address + "?blocks=1&runs=1&warmup=0&cooldown=0&pairs=int8") as page,
    ):
        page.select_option("[name=accelerator]", "webgpu")
        measure(page, timeout_s=120)
        found = report(page)
    original = found["models"][0]
    assert original["accelerator"]["used"] == "gpu"
    assert original["accelerator"]["delegate"].startswith("WebGPU on ")
    assert original["reference"]["right"]
    told = [entry["message"] for entry in found["warnings"] if entry["code"] == "fallback"]
    assert "the browser's WebGPU is emulated by the CPU" in told
