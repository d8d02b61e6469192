"""The site of a bundle: what is written, what is served, which reports are taken."""

import http.client
import json
import socket
import ssl
import threading
import urllib.parse

import numpy as np
import pytest
from PIL import Image

from export import web
from export.bundles import reading
from export.web_site import addresses, collecting, server, writing
from hsvit_runtime.errors import FileError, InputError, MissingFileError
from tests.command_line.in_process import call
from tests.export import reports
from tests.web.handmade import handmade_bundle

pytestmark = pytest.mark.once

DETECTION = {
    "scores": "logits", "boxes": "boxes", "classes": None, "box_format": "center_size", "candidates": 100,
    "most": 100, "score_threshold": 0.5, "score_margin": 0.05, "same_box_iou": 0.75, "suppression_iou": None,
}  # fmt: skip
POLICY = "default-src 'none'; script-src 'self'"


@pytest.fixture
def bundle(tmp_path):
    return handmade_bundle(tmp_path / "bundle")


@pytest.fixture
def page(tmp_path):
    """A stand-in for the built page."""
    folder = tmp_path / "page"
    (folder / "wasm").mkdir(parents=True)
    (folder / "built.json").write_text("{}")
    (folder / "index.html").write_text(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">')
    (folder / "main.js").write_text("1")
    (folder / "service_worker.js").write_text("2")
    (folder / "wasm" / "program.wasm").write_bytes(b"\0asm")
    return folder


@pytest.fixture
def site(bundle, page, tmp_path):
    writing.write(bundle, tmp_path / "site", page)
    return tmp_path / "site"


@pytest.fixture
def serving(site, tmp_path):
    """A function (**options of `Server`) that starts one and gives it."""
    running = []

    def start(**options):
        running.append(server.Server(site, "127.0.0.1", 0, **options))
        threading.Thread(target=running[-1].serve_forever, args=(0.02,), daemon=True).start()
        return running[-1]

    yield start
    for each in running:
        each.shutdown()
        each.server_close()


def ask(running, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", running.server_port, timeout=5)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, response.headers, content


# ---- writing ---------------------------------------------------------------------------------------
def test_a_site_holds_page_bundle_and_what_vouches_for_them(site, bundle):
    told = json.loads((site / "site.json").read_text())
    found = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert found == {*told["files"], "site.json"}
    assert {"index.html", "wasm/program.wasm", "bundle/original.tflite"} <= found
    assert (site / "bundle/bundle.json").read_bytes() == (bundle / "bundle.json").read_bytes()
    pixels = np.frombuffer((site / "bundle/pixels.bin").read_bytes(), "uint8").reshape(2, 2, 3, 1)
    for number, image in enumerate(pixels):
        np.testing.assert_array_equal(image[..., 0], np.asarray(Image.open(bundle / f"images/{number}.png")))


def test_another_bundle_is_another_version_for_the_service_worker(site, bundle, page):
    first = (site / "service_worker.js").read_text()
    writing.write(bundle, site, page)
    assert (site / "service_worker.js").read_text() == first
    Image.fromarray(np.zeros((2, 3), "uint8")).save(bundle / "images/0.png")
    writing.write(bundle, site, page)
    assert (site / "service_worker.js").read_text() != first
    assert (site / "service_worker.js").read_text().endswith(";2")


def test_only_a_site_is_replaced(bundle, page, tmp_path):
    (tmp_path / "notes").mkdir()
    with pytest.raises(FileError, match=r"is there already, and holds no site.json"):
        writing.write(bundle, tmp_path / "notes", page)


def test_a_page_that_is_not_built_is_told(bundle, tmp_path):
    with pytest.raises(MissingFileError, match="`make web-page` builds it"):
        writing.write(bundle, tmp_path / "site", tmp_path)


def change(bundle, path, value):
    content = json.loads((bundle / "bundle.json").read_text())
    *parents, name = path
    place = content
    for parent in parents:
        place = place[parent]
    place[name] = value
    (bundle / "bundle.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (["bundle_version"], 2, "bundle_version=2 must be 3: make the bundle again with export.bundle"),
        (["models", 0, "bytes"], 0, r"models\[0\].bytes is wrong: 0 is less than the minimum"),
        (["models", 0, "sha256"], "0" * 64, r"original.tflite is damaged"),
        (["models", 1, "file"], "../int8.tflite", r"must be the name of a file in the bundle"),
        (["models", 1, "file"], "other.tflite", r"has no file other.tflite"),
        (["models", 1, "input", "shape"], [1, 2, 2, 1], r"must be that of original.tflite"),
        (["class_names"], ["a"], "2 classes, but class_names are 1"),
        (["images", 0, "label"], 7, "label=7 must be below the number of classes, 2"),
        (["pairs", 0, "mobile"], "x.tflite", "mobile='x.tflite' must be one of original.tflite, int8.tflite"),
        (["models", 0, "reference", "bytes"], 8, r"must have 16 bytes, 2 numbers for each of 2 images"),
        (["models", 0, "reference", "sha256"], "0" * 64, r"original.bin is damaged"),
        (["models", 0, "reference", "file"], "x.bin", r"has no file x.bin"),
        (["models", 0, "reference", "outputs", 0, "offset"], 1, r"must be \[\('scores', 0, \[2\]\)\]"),
        (["models", 1, "outputs", 0, "shape"], [1, 3], r"which must be those of original.tflite, \[1, 2\]"),
        (["detection"], DETECTION, r"detection.scores='logits' must be an output, scores"),
    ],
)
def test_a_bundle_with_a_fault_is_refused(bundle, path, value, told):
    change(bundle, path, value)
    with pytest.raises((InputError, FileError), match=told):
        reading.read(bundle)


def test_damaged_files_are_told(bundle):
    (bundle / "images/1.png").write_bytes(b"png")
    with pytest.raises(InputError, match=r"1.png is damaged or no image"):
        reading.read(bundle)
    Image.fromarray(np.zeros((5, 5), "uint8")).save(bundle / "images/1.png")
    with pytest.raises(InputError, match=r"has the shape \(5, 5, 1\)"):
        reading.read(bundle)
    (bundle / "bundle.json").write_text("{")
    with pytest.raises(InputError, match=r"bundle.json is no JSON"):
        reading.read(bundle)


# ---- serving ---------------------------------------------------------------------------------------
def test_files_come_with_the_headers_that_threads_need(serving, site):
    status, headers, content = ask(serving(), "GET", "/wasm/program.wasm?x=1")
    assert (status, content) == (200, b"\0asm")
    assert headers["Content-Type"] == "application/wasm"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Embedder-Policy"] == "require-corp"
    assert headers["Content-Security-Policy"] == f"{POLICY}; frame-ancestors 'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Python" not in headers["Server"]


def test_the_page_is_at_the_root_and_known_files_are_not_sent_again(serving, site):
    running = serving()
    status, headers, content = ask(running, "GET", "/")
    assert (status, content) == (200, (site / "index.html").read_bytes())
    assert ask(running, "GET", "/", If_None_Match=headers["ETag"])[::2] == (304, b"")
    status, headers, content = ask(running, "HEAD", "/main.js")
    assert (status, headers["Content-Length"], content) == (200, "1", b"")


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/bundle/../../secret.txt",
        "/..%2fsecret.txt",
        "//etc/passwd",
        "/bundle\\..\\..\\secret.txt",
        "/main.js%00.html",
        "/bundle/",
        "http://elsewhere/main.js",
        "/%ff",
    ],
)
def test_path_tricks_lead_nowhere(serving, site, path):
    (site.parent / "secret.txt").write_text("secret")
    status, _, content = ask(serving(), "GET", path)
    assert status == 404
    assert b"secret" not in content


def test_a_site_that_names_other_files_is_not_served(site):
    told = json.loads((site / "site.json").read_text())
    told["files"]["../secret.txt"] = {"bytes": 1, "sha256": ""}
    (site / "site.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match=r"outside of its folder: \.\./secret.txt"):
        server.Server(site, "127.0.0.1", 0)


def test_a_port_that_is_taken_is_told(serving, site):
    port = serving().server_port
    with pytest.raises(FileError, match=f"port={port}: Address already in use"):
        server.Server(site, "127.0.0.1", port)


def test_https_with_a_certificate_of_its_own(serving, site):
    with addresses.certificate("127.0.0.1") as files:
        running = serving(certificate=files)
        context = ssl.create_default_context(cafile=files[0])
        silent = socket.create_connection(("127.0.0.1", running.server_port))  # holds up nobody
        connection = http.client.HTTPSConnection("127.0.0.1", running.server_port, context=context, timeout=5)
        connection.request("GET", "/main.js")
        assert connection.getresponse().read() == b"1"
        connection.close()
        silent.close()


def test_addresses():
    assert addresses.is_this_machine("127.0.0.1") and addresses.is_this_machine("::1")
    assert not addresses.is_this_machine("192.168.1.7") and not addresses.is_this_machine("phone.lan")
    assert addresses.reachable("192.168.1.7") == "192.168.1.7"
    assert addresses.reachable("0.0.0.0") != "0.0.0.0"
    assert len(addresses.qr_code("http://127.0.0.1:8000/").splitlines()) > 10


# ---- reports ---------------------------------------------------------------------------------------
def post(running, body, path="/reports", **changes):
    origin = f"http://127.0.0.1:{running.server_port}"
    headers = {"Origin": origin, "Content_Type": "application/json", **changes}
    status, _, content = ask(running, "POST", path, body, **headers)
    return status, content.decode()


def test_a_report_is_kept_under_a_name_of_our_own(serving, tmp_path):
    received = []
    running = serving(collect=tmp_path / "reports", received=lambda path, report: received.append(path))
    report = reports.phone_report()
    status, name = post(running, json.dumps(report))
    assert status == 201
    (kept,) = (tmp_path / "reports").iterdir()
    assert kept == received[0] and kept.name == name.strip()
    assert json.loads(kept.read_text()) == report
    assert ask(running, "HEAD", "/site.json")[1]["Accept-Post"] == "application/json"


def test_what_is_no_report_is_refused(serving, tmp_path, monkeypatch):
    running = serving(collect=tmp_path / "reports")
    good = json.dumps(reports.phone_report())
    assert post(running, good, Origin="https://elsewhere.example")[0] == 403
    assert post(running, good, path="/reports/../x")[0] == 404
    assert post(running, good, Content_Type="text/plain")[0] == 415
    assert post(running, "{")[0] == 422
    assert post(running, "[" * 100_000)[0] == 422
    assert "holds NaN, which is no number" in post(running, good.replace("2.0", "NaN", 1))[1]
    assert "does not follow" in post(running, "{}")[1]
    with monkeypatch.context() as patch:
        patch.setattr(collecting, "MOST_BYTES", 10)
        assert post(running, good)[0] == 413
    with monkeypatch.context() as patch:
        patch.setattr(collecting, "MOST_REPORTS", 0)
        assert "no more are taken" in post(running, good)[1]
    assert not list((tmp_path / "reports").iterdir())


def test_a_body_of_unknown_length_is_refused(serving, tmp_path):
    running = serving(collect=tmp_path / "reports")
    headers = {
        "Origin": f"http://127.0.0.1:{running.server_port}",
        "Content-Type": "application/json",
        "Transfer-Encoding": "chunked",
    }
    connection = http.client.HTTPConnection("127.0.0.1", running.server_port, timeout=5)
    connection.request("POST", "/reports", iter([b"{}"]), headers, encode_chunked=True)
    assert connection.getresponse().status == 411
    connection.close()


def test_without_collect_no_reports_are_taken(serving):
    running = serving()
    assert post(running, "{}")[0] == 404
    assert ask(running, "HEAD", "/site.json")[1]["Accept-Post"] is None


# ---- the command -----------------------------------------------------------------------------------
def test_the_command_writes_a_site(bundle, page, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(writing, "PAGE", page)
    call(web, f"--bundle={bundle}", f"--output={tmp_path / 'site'}")
    assert "10 files" in capsys.readouterr().out
    assert (tmp_path / "site" / "site.json").is_file()


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ([], "--bundle names what to write"),
        (["--collect=x", "--bundle=x"], "--serve is missing"),
        (["--serve"], "holds no site.json"),
        (["--bundle=x"], "not built|holds no bundle.json"),
    ],
)
def test_what_the_command_lacks_is_told(tmp_path, flags, told):
    with pytest.raises(InputError, match=told):
        call(web, f"--output={tmp_path}", *flags)


def test_the_command_serves_and_prints_where(site, capsys, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(server.Server, "serve_forever", interrupted)
    call(web, f"--output={site}", "--serve", "--port=0")
    printed = capsys.readouterr().out
    assert "▀" in printed or "█" in printed
    address = next(word for word in printed.split() if word.startswith("http://"))
    assert urllib.parse.urlsplit(address).hostname == "127.0.0.1"
    assert "without --https" not in printed
