"""A phone's report, written by a test of the Android app, read by Python."""

import copy
import json

import pytest

from export.page import building, latency_section, run_folder
from hsvit_keras.tasks import Classification
from measuring import benchmark_report, latency_statistics
from tests.export import phone_numbers, reports

FILE = phone_numbers.FILE.with_name("phone_report.json")


@pytest.fixture(scope="module")
def phone_report():
    return json.loads(FILE.read_text())


def test_the_app_is_tested_with_the_numbers_of_today():
    then, now = json.loads(phone_numbers.FILE.read_text()), json.loads(phone_numbers.encode())
    for part in ("statistics", "agreement", "detections", "preparation"):
        assert then[part] == now[part]
    # Image files may be packed otherwise by another version of their library.
    assert [case["resized"] for case in then["resizing"]] == [case["resized"] for case in now["resizing"]]


def test_it_follows_the_schema(phone_report):
    reports.validate(phone_report)


def test_it_names_its_task_and_tensors(phone_report):
    assert phone_report["task"] == benchmark_report.describe_task(Classification())
    model = phone_report["models"][0]
    assert [tensor["shape"] for tensor in model["inputs"] + model["outputs"]] == [[1, 4, 4, 1], [1, 3]]
    assert model["input_range"] == [-2, 2]
    assert model["metrics"] == {"accuracy": 0.9}
    samples = {"samples", "max_abs_diff", "cosine", "top1_agreement"}
    assert phone_report["pairs"][0]["agreement"].keys() == samples


def test_its_numbers_are_those_of_python(phone_report):
    models = {model["name"]: model for model in phone_report["models"]}
    assert list(models) == ["original.tflite", "int8.tflite", "original.tflite (2)", "dynamic.tflite"]
    for model in models.values():
        latencies = [latency for block in model["blocks_ms"] for latency in block]
        assert model["latency_ms"] == pytest.approx(latency_statistics.summarize(latencies), rel=1e-12)
    for pair in phone_report["pairs"]:
        blocks = [models[pair[role]]["blocks_ms"] for role in ("original", "mobile")]
        assert pair["ratio"] == {"of": "median", **latency_statistics.ratio_of_medians(*blocks)}


def test_it_has_threads_heat_and_minutes(phone_report):
    times = phone_report["models"][1]["thread_sweep"]
    assert [time["threads"] for time in times] == [1, 2, 3, 4]
    # Each thread adds 0.6 times the speed of one; single runs take up to a tenth longer.
    assert times[3]["p50_ms"] / times[0]["p50_ms"] == pytest.approx(1 / 2.8, rel=0.1)
    curve = phone_report["models"][1]["sustained"]
    assert curve[-1]["at_s"] == pytest.approx(1, rel=0.1)
    assert curve[0]["state"]["battery_celsius"] == 31.5
    first, second = phone_report["pairs"]
    assert (first["cooled_s"], second["cooled_s"]) == (0, 60)  # it was heated in between and stayed warm
    assert [cluster["capacity"] for cluster in phone_report["device"]["cpu"]["clusters"]] == [300, 1024]


def test_it_has_memory_and_cores(phone_report):
    mega, kilo = 2**20, 2**10
    memories = {model["name"]: model["memory"] for model in phone_report["models"]}
    # The models take so much, twice that while they are loaded, and a little more with each of three runs.
    for name, loaded in {"original.tflite": 8, "int8.tflite": 2, "original.tflite (2)": 8}.items():
        memory = memories[name]
        assert memory["init_bytes"] == loaded * mega
        assert memory["overall_bytes"] == loaded * mega + 3 * 4 * kilo
        assert memory["peak_bytes"] == 2 * loaded * mega
    asked = phone_report["settings"]["cores"]
    assert asked == [0, 1, 2, 3]
    assert all(pair["cores"] == asked for pair in phone_report["pairs"])


def test_nodes_that_the_bundle_tells_are_told_so(phone_report):
    report = copy.deepcopy(phone_report)
    accelerator = report["models"][3]["accelerator"]
    assert accelerator["nodes_known_from"] == "log"
    accelerator["nodes_known_from"] = "bundle"
    reports.validate(report)
    told = "14 partitions, 80 of 109 nodes, as the bundle says, not the runtime&#x27;s log"
    assert told in "".join(latency_section.details(report))


def test_it_has_the_operations_that_were_cut_out(phone_report):
    ops = {model["name"]: model["ops"] for model in phone_report["models"]}
    assert ops == {
        **dict.fromkeys(("original.tflite", "original.tflite (2)", "dynamic.tflite")),
        "int8.tflite": [
            {"kind": "MLP", "files": 2, "p50_ms": 0.5},
            {"kind": "Convolution", "files": 1, "p50_ms": 0.25},
        ],
    }


def test_refused_cores_are_told(phone_report):
    report = copy.deepcopy(phone_report)
    report["pairs"][1]["cores"] = list(range(8))
    message = "cores 0-3 were asked for, the system ran threads on cores 0-7"
    report["warnings"].append(benchmark_report.warning("cores", message))
    reports.validate(report)
    details = "".join(latency_section.details(report))
    assert "0, 1, 2, 3 were asked for and refused" in details
    assert message in details


def test_it_warns_of_all_that_python_would(phone_report):
    found = benchmark_report.find_warnings(phone_report)
    assert [entry["code"] for entry in found] == ["thermal"]
    assert all(entry in phone_report["warnings"] for entry in found)
    codes = {entry["code"]: entry["model"] for entry in phone_report["warnings"]}
    of_dynamic = dict.fromkeys(("wrong_answers", "fallback"), "dynamic.tflite")
    assert codes == {"failed": "broken.tflite", **of_dynamic, "thermal": None}


def test_the_page_shows_it():
    run = run_folder.read_run(FILE.parent, benchmarks=[FILE])
    html, figures = building.build(run)
    assert {"threads-1", "sustained-1"} <= figures.keys()
    order = (
        "6 alternating blocks of 20 runs for each model, "
        "uncounted runs until the latency is steady, for 1 s at most,"
    )
    for told in (
        order,
        "Measured on Maker Phone 7",
        "API level",
        "original.tflite (2)",
        "WRONG OUTPUTS for 10 of 10 samples",
        "pair broken was not measured: broken.tflite holds 3 bytes, bundle.json says 22",
        "CPU, XNNPACK, 1 partition, 86 of 86 nodes",
        "CPU, XNNPACK, 14 partitions, 80 of 109 nodes",
        "the device throttled after measuring, status 1",
        "Median latency by threads, on the CPU",
        "Without a pause for 1 s",
        "Median latency by threads: original.tflite 2.1",
        "Median latency without a pause, by seconds: original.tflite 2.",
        "Memory that each model adds to its process",
        "Median latency of each kind of operation, cut out and run alone",
        "Models ran on cores</dt><dd>0, 1, 2, 3<",
        "cores 4, 5, 6, 7, 2900 MHz at most, capacity 1024",
    ):
        assert told in html
