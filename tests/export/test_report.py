import base64
import html.parser
import json
import pathlib
import re
import subprocess
import sys

import pytest

import export
from command_line import plots as style
from export.page import building, formats, latency_section, plots, run_folder
from hsvit_keras.tasks import TASKS
from measuring import official_tools
from tests.export import reports

ROOT = pathlib.Path(export.__file__).parent.parent
OUTPUTS = pathlib.Path(__file__).parents[1] / "measuring" / "official_outputs"

METRICS = [
    {
        "epoch": epoch,
        "loss": 1 / epoch,
        "accuracy": 1 - 0.5 / epoch,
        "val_loss": 1.5 / epoch,
        "val_accuracy": accuracy,
        "learning_rate": 0.001 * (3 - epoch),
        "images_per_second": 100.0 * epoch,
    }
    for epoch, accuracy in ((1, 0.5), (2, 0.875), (3, 0.75))
]
ARTIFACT = {
    "artifact": "mobile.tflite",
    "preset": "dynamic",
    "bytes": 1_000_000,
    "sha256": "0123456789abcdef" * 4,
    "input": {"shape": [1, 8, 8, 1], "dtype": "float32"},
    "output": {"shape": [1, 3], "dtype": "float32"},
    "ops": {"CONV_2D": 5, "ADD": 7},
    "partitions": 1,
    "fully_delegated": False,
    "undelegated_ops": [{"op": "MAX_POOL_2D", "count": 2, "reason": "stride 4 > window 3"}],
    "flex_ops": ["FlexErf"],
    "minimum_runtime": "2.16",
    "task": TASKS["classification"].to_json(),
    "description": {"input_range": [0, 255]},
    "parity": {
        "samples": 64,
        "data": "digits",
        "max_abs_diff": 0.0123,
        "cosine": 0.99987,
        "top1_agreement": 0.984375,
        "metrics": {"accuracy": 0.9375},
    },
}


class Page(html.parser.HTMLParser):
    """What a reader finds on a page: texts by element, and whether elements are closed."""

    VOID = ("meta", "link", "br", "img")

    def __init__(self, content):
        super().__init__()
        self.open, self.texts, self.elements = [], {}, []
        self.feed(content)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if text.strip() and self.open:
            self.texts.setdefault(self.open[-1], []).append(" ".join(text.split()))

    def attributes(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


SUMMARY = {
    "task": TASKS["classification"].to_json(),
    "validation": {"part": "train, 10 %, seed 0", "metric": "accuracy"},
    "best": METRICS[1],
    "test": {"samples": 40, "accuracy": 0.85, "loss": 0.5},
    "parameters": 54321,
    "seconds": 98.7,
    "backend": "tensorflow",
}
COMPLETE = {
    "metrics.jsonl": "".join(json.dumps(row) + "\n" for row in METRICS),
    "config.json": {"model": "hsvit_tiny", "epochs": 3, "augmentation": {"shift": 2}},
    "summary.json": SUMMARY,
    "exports/mobile.json": ARTIFACT,
    "benchmark.json": reports.phone_report(),
}


def write(folder, contents):
    """Makes the folder of a run out of texts and what is to become JSON."""
    (folder / "exports").mkdir(parents=True)
    for name, content in contents.items():
        content = content if isinstance(content, str | bytes) else json.dumps(content)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.fixture
def workdir(tmp_path):
    return lambda contents: write(tmp_path / "my run", contents)


def build(folder, **arguments):
    content, images = building.build(run_folder.read_run(folder, **arguments))
    return content, Page(content), images


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """The page of a complete run: its text, what a reader finds on it, its figures."""
    return build(write(tmp_path_factory.mktemp("runs") / "my run", COMPLETE))


def rows(content, caption):
    """The cells of a table, row by row."""
    table = content[content.index(f'aria-label="{caption}"') :]
    table = table[: table.index("</table>")]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]


def test_complete_page(complete):
    content, page, images = complete
    assert page.texts["h1"] == ["hsvit_tiny: training, export, speed"]
    assert page.texts["h2"] == ["In short", "Training", "Artifacts", "Measured on Maker Phone 7"]
    assert set(images) == {"loss", "accuracy", "learning-rate", "latency-1", "speed-1", "size-1"}
    assert all(image.startswith(b"\x89PNG") for image in images.values())
    assert 'class="missing"' not in content
    assert "None" not in "".join(text for texts in page.texts.values() for text in texts)


def test_summary_of_the_benchmark(complete):
    content, page, _ = complete
    assert rows(content, "The original and its artifacts") == [
        ["Artifact", "Time ratio", "Size", "of original", "Median", "Cosine", "Same class", "Accuracy"],
        ["original.tflite", "1.000", "4 MB", "100 %", "2.00 ms", "–", "–", "97.5 %"],
        ["mobile.tflite", "0.500 [0.500, 0.500]", "1 MB", "25 %", "1.00 ms", "0.999500", "97.5 %", "97.5 %"],
    ]
    (reading,) = (text for text in page.texts["p"] if "Time ratio" in text)
    assert reading == (
        "Outputs for 40 samples of digits, test part. Time ratio: median latency over that of "
        "original.tflite, with its 95% interval; below 1 is faster. "
        "Measured on Maker Phone 7, TFLite Interpreter, 2 threads."
    )


def test_training(complete):
    _, page, _ = complete
    facts = dict(zip(page.texts["dt"], page.texts["dd"], strict=True))
    assert facts["Epochs"] == "3"
    assert facts["Best epoch"] == "2, chosen on validation (train, 10 %, seed 0)"
    assert facts["Accuracy, validation"] == "87.5 %"
    assert facts["Accuracy, test part, measured once"] == "85.0 %"
    assert facts["Speed"] == "200 images/s"
    assert (facts["Parameters"], facts["Time"], facts["Backend"]) == ("54,321", "99 s", "tensorflow")
    assert (facts["epochs"], facts["augmentation.shift"]) == ("3", "2")


def test_an_epoch_chosen_on_the_test_part_is_named_as_that(workdir):
    summary = {**SUMMARY, "validation": {"part": "test", "metric": "accuracy"}, "test": None}
    _, page, _ = build(workdir({"metrics.jsonl": COMPLETE["metrics.jsonl"], "summary.json": summary}))
    facts = dict(zip(page.texts["dt"], page.texts["dd"], strict=True))
    assert facts["Best epoch"] == "2, chosen on the test part, as the papers do"
    assert facts["Accuracy, test part, best epoch"] == "87.5 %"
    assert not any("validation" in text for text in (*facts, *facts.values()))
    curves = [figure["aria-label"] for figure in page.attributes("svg")]
    assert any(text.startswith("Accuracy: training 0.5, test 0.5 in the first epoch") for text in curves)


def test_a_task_of_another_metric(workdir):
    segmentation = TASKS["segmentation"].to_json()
    metrics = [{"epoch": 1, "loss": 1.0, "mean_iou": 0.25, "val_loss": 1.5, "val_mean_iou": 0.5}]
    summary = {**SUMMARY, "task": segmentation, "best": metrics[0], "test": {"mean_iou": 0.4}}
    benchmark = reports.phone_report()
    benchmark["task"] = segmentation
    for model in benchmark["models"]:
        model["metrics"] = {"mean_iou": 0.625}
    benchmark["pairs"][0]["agreement"]["pixel_agreement"] = 0.875
    content, page, images = build(
        workdir(
            {"metrics.jsonl": json.dumps(metrics[0]), "summary.json": summary, "benchmark.json": benchmark}
        )
    )
    header, *models = rows(content, "The original and its artifacts")
    assert header[-2:] == ["Same class of a pixel", "Mean IoU"]
    assert [model[-2:] for model in models] == [["–", "62.5 %"], ["87.5 %", "62.5 %"]]
    facts = dict(zip(page.texts["dt"], page.texts["dd"], strict=True))
    assert facts["Mean IoU, test part, measured once"] == "40.0 %"
    assert "mean-iou" in images


def test_samples_of_the_test_part_are_shown(workdir):
    png = b"\x89PNG\r\n\x1a\n of samples"
    content, _, _ = build(workdir({**COMPLETE, "samples.png": png}))
    assert f"data:image/png;base64,{base64.b64encode(png).decode()}" in content


def test_artifacts(complete):
    content, _, _ = complete
    assert rows(content, "How near the artifacts are to Keras")[1] == [
        *(
            "mobile.tflite",
            "dynamic",
            "1 MB",
            "0.012",
            "0.999870",
            "98.4 %",
            "93.8 %",
            "64",
            "digits",
            "2.16",
        ),
    ]
    assert rows(content, "What is inside the artifacts")[1] == [
        "mobile.tflite",
        "12",
        "1",
        "all but 2 MAX_POOL_2D (stride 4 &gt; window 3)",
        "FlexErf",
        "1 × 8 × 8 × 1 float32, pixels of 0–255",
        "1 × 3 float32",
        "0123456789ab",
    ]


def test_artifacts_are_ordered_by_size_and_may_know_less(workdir):
    onnx = {"artifact": "model.onnx", "sha256": "f" * 64, "parity": {}, "opset": 17, "bytes": 2_000_000}
    folder = workdir({"exports/mobile.json": ARTIFACT, "model.onnx.json": onnx})
    content, _, _ = build(folder)
    nearness = rows(content, "How near the artifacts are to Keras")
    assert [row[0] for row in nearness[1:]] == ["model.onnx", "mobile.tflite"]
    assert nearness[1][1:] == ["–", "2 MB", *"––––", "–", "random inputs", "opset 17"]
    assert rows(content, "What is inside the artifacts")[1][1:-1] == ["–"] * 6


def test_latencies_and_device(complete):
    content, page, _ = complete
    assert rows(content, "Latency of each model")[2] == [
        *("mobile.tflite", "1.00 ms", "1.05 ms", "1.05 ms", "0.950 ms", "1.00 ms", "1.05 ms"),
        *("12.5 ms", "4.00 ms", "120"),
    ]
    assert rows(content, "What each model runs on")[2] == [
        "mobile.tflite",
        "TFLite Interpreter 2.16.1",
        "2 (1.9 cores busy)",
        "CPU, XNNPACK, 1 partition, 30 of 31 nodes, asked for GPU",
        "0123456789ab",
    ]
    facts = dict(zip(page.texts["dt"], page.texts["dd"], strict=True))
    assert facts["CPU"] == "SoC 900"
    assert facts["CPU features"] == "asimddp, i8mm"
    assert facts["System"] == "Android 15"
    assert facts["Thermal status"] == "0"
    assert facts["Thermal headroom"] == "0.40 → 0.60"
    assert facts["Battery"] == "81 % → 80 %"
    assert (facts["Charging"], facts["Debug build"]) == ("no", "no")
    assert facts["Order"].startswith("4 alternating blocks of 30 runs for each model, 5 uncounted runs")
    assert "No warnings." in page.texts["p"]


COSTS = {
    "cost": "instructions",
    "core": "cortex-a76",
    "runtime": {"name": "ai-edge-litert", "version": "2.3.0"},
    "models": [
        {
            **{"name": "float32.tflite", "bytes": 4000, "sha256": "ab" * 32},
            **{"instructions": 35_287_711, "ratio": 1.0, "by_kind": {"fma": 25_324_258}},
        },
        {
            **{"name": "int8.tflite", "bytes": 1000, "sha256": "cd" * 32},
            **{"instructions": 10_632_463, "ratio": 0.30131, "by_kind": {"dot": 6_382_400}},
        },
    ],
}


def test_costs_on_a_core(workdir):
    content, page, _ = build(workdir({**COMPLETE, "costs.json": COSTS}))
    assert page.texts["h2"][-1] == "Instructions on cortex-a76"
    header, *models = rows(content, "Instructions of one inference")
    assert header[:4] == ["Model", "Ratio", "Instructions", "8-bit dots"]
    assert [model[:4] for model in models] == [
        ["float32.tflite", "1.000", "35,287,711", "0"],
        ["int8.tflite", "0.301", "10,632,463", "6,382,400"],
    ]
    assert any("ratio to float32.tflite" in text for text in page.texts["p"])


def test_costs_alone_are_enough_and_broken_ones_are_left_out(workdir):
    folder = workdir({"costs.json": COSTS, "broken.json": {**COSTS, "models": [{"name": "x"}]}})
    run = run_folder.read_run(folder)
    assert [report["core"] for report in run.costs] == ["cortex-a76"]
    (note,) = run.skipped
    assert note.endswith(
        "broken.json is no report of export.arm_cost: models[0] is wrong: 'sha256' is a required property"
    )


def test_wrong_outputs_come_first_whatever_was_measured_where(workdir):
    here, phone = reports.phone_report(), reports.phone_report()
    here["device"]["name"] = "A computer"
    phone["warnings"] = [
        {"code": "wrong_answers", "model": "mobile.tflite", "message": "WRONG OUTPUTS for 3 of 40 samples"},
        {"code": "not_finite", "model": None, "message": "outputs of 2 of 40 samples hold NaN or infinity"},
    ]
    told = [
        "mobile.tflite computes wrong outputs on Maker Phone 7: WRONG OUTPUTS for 3 of 40 samples.",
        "A model computes wrong outputs on Maker Phone 7: outputs of 2 of 40 samples hold NaN or infinity.",
    ]
    folder = workdir({"benchmark.json": here, "phone.json": phone})
    content, page, _ = build(folder, benchmarks=[folder / "benchmark.json", folder / "phone.json"])
    assert page.texts["p"][1:3] == told  # the first is the page's lead
    assert [row[0] for row in rows(content, "The original and its artifacts")][-1] == "mobile.tflite"
    content, page, _ = build(folder, benchmarks=[folder / "phone.json"])
    assert page.texts["p"][1:3] == told
    assert [row[0] for row in rows(content, "The original and its artifacts")][-1] == "mobile.tflite, WRONG"


def test_warnings(workdir):
    benchmark = reports.phone_report()
    benchmark["warnings"] = [
        {"code": "debug_build", "model": None, "message": "a debug build"},
        {"code": "noisy", "model": "mobile.tflite", "message": "it varied"},
    ]
    _, page, _ = build(workdir({"benchmark.json": benchmark}))
    assert page.texts["li"] == ["a debug build", "mobile.tflite: it varied"]
    assert "There are 2 warnings about this measurement, see below." in page.texts["p"]


def test_figures_are_described_for_those_who_do_not_see_them(complete):
    _, page, images = complete
    figures = page.attributes("svg")
    assert len(figures) == len(images) == len(page.texts["figcaption"])
    assert all(figure["role"] == "img" for figure in figures)
    descriptions = [figure["aria-label"] for figure in figures]
    assert (
        "Accuracy: training 0.5, validation 0.5 in the first epoch, "
        "training 0.8333, validation 0.75 in the last." in descriptions
    )
    assert "Median latency: original.tflite 2.00 ms, mobile.tflite 1.00 ms" in descriptions
    assert (
        "Accuracy against size (size, kB): original.tflite 97.5 % at 4e+03, mobile.tflite 97.5 % at 1e+03"
        in descriptions
    )


def test_tables_have_headers_with_a_scope_and_can_be_reached_by_keyboard(complete):
    _, page, _ = complete
    assert {header["scope"] for header in page.attributes("th")} == {"col", "row"}
    regions = [attributes for attributes in page.attributes("div") if attributes.get("role") == "region"]
    assert len(regions) == len(page.attributes("table")) == 6
    assert all(region["tabindex"] == "0" and region["aria-label"] for region in regions)


def test_page_needs_no_other_file(complete):
    content, page, _ = complete
    for tag, attributes in page.elements:
        assert tag not in ("script", "iframe", "object", "embed", "img")
        for name in ("src", "href", "xlink:href", "data", "srcset"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes)
    assert not re.findall(r"@import|url\((?!#|&#)", content)
    assert "default-src 'none'" in page.attributes("meta")[4]["content"]
    ids = re.findall(r'\bid="([^"]+)"', content)
    assert len(ids) == len(set(ids))


def test_every_text_is_escaped(workdir):
    bad = '<script>alert("1")</script>&amp;'
    benchmark = reports.phone_report()
    benchmark["device"]["name"] = benchmark["models"][1]["name"] = benchmark["pairs"][0]["mobile"] = bad
    benchmark["warnings"] = [{"code": "busy", "model": bad, "message": bad}]
    artifact = {**ARTIFACT, "preset": bad, "flex_ops": [bad], "minimum_runtime": bad}
    config = {"model": bad, bad: bad}
    content, page, _ = build(
        workdir({"benchmark.json": benchmark, "exports/mobile.json": artifact, "config.json": config})
    )
    assert "<script" not in content
    assert not page.attributes("script")
    assert f"{bad}: training, export, speed" in page.texts["h1"]
    assert f"{bad}: {bad}" in page.texts["li"]
    assert bad in page.texts["dt"]
    assert bad in page.texts["td"]


@pytest.mark.parametrize(
    ("absent", "message"),
    [
        ("config.json", "There is no config.json: the settings are not known."),
        ("exports/mobile.json", "No report of a converter was found."),
        ("metrics.jsonl", "There is no metrics.jsonl with epochs: the training is not known."),
        ("benchmark.json", "No benchmark report was found."),
    ],
)
def test_what_is_missing_is_said_and_the_rest_shown(workdir, absent, message):
    present = {"config.json", "exports/mobile.json"} - {absent}
    _, page, _ = build(workdir({name: COMPLETE[name] for name in present}))
    assert message in page.texts["p"]
    assert ("augmentation.shift" in page.texts.get("dt", ())) == ("config.json" in present)
    assert ("mobile.tflite" in page.texts.get("th", ())) == ("exports/mobile.json" in present)


def test_folder_with_nothing_in_it(tmp_path):
    (tmp_path / "stray.json").write_text("{}")
    with pytest.raises(
        FileNotFoundError, match=r"nothing to report on in .*, where metrics\.jsonl, config\.json"
    ):
        run_folder.read_run(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(FileNotFoundError, match=r"are looked for; .*config\.json is no JSON"):
        run_folder.read_run(tmp_path)


def test_hidden_files_are_not_looked_at(workdir):
    folder = workdir({"config.json": COMPLETE["config.json"], ".half.1.part.json": "{"})
    (folder / ".cache").mkdir()
    (folder / ".cache" / "report.json").write_text(json.dumps(ARTIFACT))
    run = run_folder.read_run(folder)
    assert run.skipped == [] and run.artifacts == []


def test_metrics_that_stop_early_or_lack_a_column(workdir):
    metrics = '{"loss": 2.0}\n\n{"loss": 1.0, "val_accuracy": null}\n'
    _, page, images = build(workdir({"metrics.jsonl": metrics}))
    assert {"loss"} == set(images) & {"loss", "accuracy", "learning-rate"}
    assert "Loss over 2 epochs." in page.texts["figcaption"]
    assert "Best epoch" not in page.texts["dt"]


def test_agreement_stands_in_for_an_unknown_accuracy(workdir):
    benchmark = reports.phone_report()
    for model in benchmark["models"]:
        model["metrics"] = {}
    _, page, _ = build(workdir({"benchmark.json": benchmark}))
    described = [figure["aria-label"] for figure in page.attributes("svg")]
    assert (
        "Same class against latency (median latency, ms): "
        "original.tflite 100.0 % at 2, mobile.tflite 97.5 % at 1" in described
    )


@pytest.mark.parametrize("unknown", ["blocks", "runs", "warmup", "cooldown_s"])
def test_settings_that_are_not_known_are_left_out(unknown):
    settings = reports.phone_report()["settings"]
    assert "alternating blocks" in latency_section._order(settings)
    assert latency_section._order({**settings, unknown: None}) is None


def test_imported_results_have_neither_interval_nor_outputs(workdir, tmp_path):
    imported = official_tools.import_results([OUTPUTS / "shell.txt", OUTPUTS / "one_line.txt"])
    (tmp_path / "imported.json").write_text(json.dumps(imported))
    content, page, images = build(workdir({}), benchmarks=[tmp_path / "imported.json"])
    assert page.texts["h2"][-1] == "Measured on an unnamed device"
    assert rows(content, "The original and its artifacts")[2] == [
        *("one_line.txt", "0.026 (of means)", "–", "–", "–", "–"),
    ]
    assert "latency-1" in images
    assert "speed-1" not in images
    assert any("without an interval" in text for text in page.texts["p"])


def test_several_benchmarks_and_an_export_folder(workdir, tmp_path):
    folder = workdir({"benchmark.json": COMPLETE["benchmark.json"]})
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "other.json").write_text(json.dumps({**ARTIFACT, "artifact": "other.tflite"}))
    second = reports.phone_report()
    second["device"]["name"] = "Second Phone"
    (tmp_path / "second.json").write_text(json.dumps(second))
    paths = [folder / "benchmark.json", tmp_path / "second.json"]
    content, page, images = build(folder, benchmarks=paths, exports=other)
    assert page.texts["h2"][-2:] == ["Measured on Maker Phone 7", "Measured on Second Phone"]
    assert {"latency-1", "latency-2"} <= set(images)
    assert [row[0] for row in rows(content, "How near the artifacts are to Keras")[1:]] == ["other.tflite"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", "{", r"config\.json is no JSON: "),
        ("benchmark.json", '{"models": [', r"benchmark\.json is no JSON: "),
        (
            "benchmark.json",
            {"models": [], "pairs": []},
            r"benchmark\.json is no benchmark report: .* required",
        ),
        ("metrics.jsonl", '{"loss": 1}\n{"loss"', r"line 2 of .*metrics\.jsonl is no JSON: "),
        ("config.json", b"\xff\xfe\x00", r"config\.json is no JSON: "),
        ("metrics.jsonl", "[1]\n", r"line 1 of .*metrics\.jsonl: the whole is wrong: \[1\] is not of type"),
        ("exports/strange.json", "[1]", r"strange\.json holds no JSON object"),
        ("summary.json", {"best": {"epoch": "two"}}, r"summary\.json: best\.epoch is wrong: 'two' is not"),
        (
            "metrics.jsonl",
            '{"loss": 1e300}\n',
            r"line 1 of .*metrics\.jsonl: loss is wrong: 1e\+300 is greater",
        ),
        ("samples.png", b"no picture", r"samples\.png is no PNG picture"),
        (
            "exports/other.json",
            {**ARTIFACT, "ops": -1},
            r"other\.json is no report of a converter: ops is wrong: -1 is",
        ),
    ],
)
def test_files_that_cannot_be_used_are_left_out_and_named(workdir, monkeypatch, name, content, message):
    monkeypatch.setattr(style, "as_png", lambda drawn: b"")  # drawing takes most of the time
    monkeypatch.setattr(plots, "as_svg", lambda drawn, name: "<svg></svg>")
    _, page, _ = build(workdir({**COMPLETE, name: content}))
    assert page.texts["h2"][:3] == ["In short", "Files left out", "Training"]
    notes = [text for text in page.texts["p"] if re.search(message, text)]
    assert len(notes) == 1
    assert "mobile.tflite" in page.texts["th"]  # the rest is there


def test_reports_of_others_are_no_artifacts(workdir):
    stranger = {"artifact": "vase", "sha256": 5, "parity": "even"}
    run = run_folder.read_run(workdir({**COMPLETE, "exports/strange.json": stranger}))
    assert [artifact["name"] for artifact in run.artifacts] == ["mobile.tflite"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 1}, "it has schema_version 1, and this program reads 2"),
        ({"warnings": "none"}, "at warnings, 'none' is not of type 'array'"),
    ],
)
def test_named_benchmark_that_does_not_follow_the_schema(workdir, change, message):
    folder = workdir({"benchmark.json": reports.phone_report() | change})
    with pytest.raises(ValueError, match=r"benchmark\.json is no benchmark report") as raised:
        run_folder.read_run(folder, benchmarks=[folder / "benchmark.json"])
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"exports": "nowhere"}, "exports='nowhere' is no folder"),
        ({"benchmarks": ["gone.json"]}, r"there is no benchmark report gone\.json"),
    ],
)
def test_what_was_named_must_be_there(workdir, arguments, message):
    with pytest.raises(FileNotFoundError, match=message):
        run_folder.read_run(workdir({}), **arguments)
    with pytest.raises(FileNotFoundError, match="workdir='nowhere' is no folder"):
        run_folder.read_run("nowhere")


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "export.report", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_command(workdir, tmp_path):
    output = tmp_path / "out" / "page.html"
    output.parent.mkdir()
    run = command(f"--workdir={workdir(COMPLETE)}", f"--output={output}")
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    Page(output.read_text())
    names = sorted(path.name for path in output.parent.iterdir())
    figures = ("accuracy", "latency-1", "learning-rate", "loss", "size-1", "speed-1")
    assert names == ["page.html", *(f"page_{name}.png" for name in figures)]
    assert run.stdout == f"wrote {output}, and its 6 figures as page_*.png\n"


def test_command_says_what_it_left_out(workdir, tmp_path):
    folder = workdir({"config.json": COMPLETE["config.json"], "other.json": "{"})
    run = command(f"--workdir={folder}", f"--output={tmp_path / 'page.html'}")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"left out: {folder / 'other.json'} is no JSON: ")


def test_command_writes_nothing_on_bad_input(workdir, tmp_path):
    output = tmp_path / "page.html"
    folder = workdir({"config.json": "{}", "benchmark.json": "{"})
    run = command(f"--workdir={folder}", f"--benchmark={folder / 'benchmark.json'}", f"--output={output}")
    assert run.returncode == 1
    assert run.stderr.startswith("error: ")
    assert run.stderr.count("\n") == 1
    assert not list(tmp_path.glob("*page*"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (99_600, "99.6 kB"),
        (787_082, "787 kB"),
        (3_218_972, "3.22 MB"),
        (25_276_502_016, "25.3 GB"),
        (2_500_000_000_000, "2500 GB"),
        (None, None),
    ],
)
def test_sizes(value, text):
    assert formats.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.04853, "0.0485 ms"),
        (0.9999, "1.00 ms"),
        (5.4321, "5.43 ms"),
        (54.321, "54.3 ms"),
        (1408.7, "1,409 ms"),
        (0, "0 ms"),
        (None, None),
    ],
)
def test_milliseconds(value, text):
    assert formats.milliseconds(value) == text
