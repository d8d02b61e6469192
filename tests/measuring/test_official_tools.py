"""Reads what the official tools print, kept in `official_outputs` with most of its lines."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

from hsvit_runtime.errors import InputError
from measuring import official_tools
from tests.export import reports
from tests.runtime.litert.builder import Builder

OUTPUTS = pathlib.Path(__file__).parent / "official_outputs"


def output(name):
    return (OUTPUTS / name).read_text()


SHELL = output("shell.txt")  # benchmark_model in a shell of a phone
LOGCAT = output("logcat.txt")  # the Android app; with an average beyond what fits seven digits
ONE_LINE = output("one_line.txt")  # what `adb logcat | grep "Inference timings in us"` leaves of it
OLD = output("old_with_op_profiler.txt")  # the profiler's lines look much like those of the runs
GPU = output("gpu.txt")
LITERT = output("litert_benchmark.txt")  # litert-benchmark, both streams
LITERT_JSON = output("litert_benchmark.json")
LITERT_CPP = output("litert_cpp.txt")  # LiteRT's benchmark_model: rounded ms after exact us
PROTO_TEXT = output("benchmark_result.textproto")
PROTO_JSON = output("benchmark_result.json")


@pytest.fixture
def read(tmp_path):
    def read(text, name="result.txt"):
        (tmp_path / name).write_text(text)
        tool, model = official_tools.read_result(tmp_path / name)
        return {"tool": tool, **model}

    return read


def test_benchmark_model_in_a_shell(read):
    model = read(SHELL)
    assert model["tool"] == "benchmark_model"
    assert model["name"] == "tiny_float32.tflite"
    assert model["bytes"] == 24_622_900  # MB of 10 ** 6 bytes, as the tool counts them
    assert model["threads"] == {"requested": 2, "used": None, "busy_cores": None}
    assert model["accelerator"] == {
        "requested": "cpu",
        "used": "cpu",
        "delegate": "TfLiteXNNPackDelegate",
        "partitions": 65,
        "nodes_delegated": 2136,
        "nodes_total": 2168,
    }
    assert model["init_ms"] == pytest.approx(119.515)
    assert model["first_inference_ms"] == pytest.approx(87.112)
    assert model["warmup_mean_ms"] == pytest.approx(58.1474)
    latency = model["latency_ms"]
    assert latency == {
        "count": 1000,
        "p5": pytest.approx(49.620),
        "p50": pytest.approx(51.891),
        "p90": None,
        "p95": pytest.approx(68.628),
        "p99": None,
        "min": pytest.approx(49.088),
        "mean": pytest.approx(63.7432),
        "max": pytest.approx(686.105),
        "std": pytest.approx(60.716),
    }
    assert model["memory"] == {
        "init_bytes": 55.5 * 2**20,
        "overall_bytes": 60.25 * 2**20,
        "peak_bytes": None,
    }
    assert model["blocks_ms"] is None


def test_android_app_through_logcat(read):
    model = read(LOGCAT)
    assert model["name"] == "big_fp16.tflite"
    assert model["threads"]["requested"] == 4
    assert model["accelerator"]["partitions"] == 23
    assert model["warmup_mean_ms"] == pytest.approx(2732.15)
    assert model["latency_ms"]["mean"] == pytest.approx(2719.85)
    assert model["latency_ms"]["p50"] == pytest.approx(2709.263)
    assert model["latency_ms"]["count"] == 10


def test_nothing_but_the_line_of_the_timings(read):
    model = read(ONE_LINE, "phone.log")
    assert model["name"] == "phone.log"
    assert model["init_ms"] == pytest.approx(1007.529)
    assert model["first_inference_ms"] == pytest.approx(4.098)
    assert model["warmup_mean_ms"] == pytest.approx(1.68659)
    assert model["latency_ms"]["mean"] == pytest.approx(1.68792)
    assert {value for name, value in model["latency_ms"].items() if name != "mean"} == {None}
    assert (model["bytes"], model["memory"]) == (None, None)
    assert set(model["accelerator"].values()) == {None}


def test_older_version_with_its_op_profiler(read):
    model = read(OLD)
    assert model["init_ms"] == pytest.approx(38.467)
    assert model["warmup_mean_ms"] == pytest.approx(83.235)
    assert model["first_inference_ms"] is None
    assert model["latency_ms"]["count"] == 50
    assert model["latency_ms"]["mean"] == pytest.approx(79.7609)
    assert model["latency_ms"]["max"] == pytest.approx(88.213)


def test_gpu(read):
    model = read(GPU)
    assert model["accelerator"] == {
        "requested": "gpu",
        "used": "gpu",
        "delegate": "TfLiteGpuDelegateV2",
        "partitions": 2,
        "nodes_delegated": 60,
        "nodes_total": 65,
    }
    assert model["memory"]["peak_bytes"] == 12.5 * 2**20


def test_gpu_asked_for_and_not_used(read):
    log = "\n".join(line for line in GPU.splitlines() if "TfLiteGpuDelegateV2" not in line)
    assert read(log)["accelerator"]["requested"] == "gpu"
    assert read(log)["accelerator"]["used"] == "cpu"


def test_litert_benchmark_prints_what_it_writes(read):
    printed, written = read(LITERT), read(LITERT_JSON, "result.json")
    assert printed == written
    assert printed["tool"] == "litert-benchmark"
    assert printed["name"] == "dynamic.tflite"
    assert printed["bytes"] == 2**19  # MB of 2 ** 20 bytes, as this tool counts them
    assert printed["threads"]["requested"] == 3
    assert printed["runtime"]["name"] == "LiteRT CompiledModel"
    assert (printed["accelerator"]["requested"], printed["accelerator"]["used"]) == ("cpu", "cpu")
    assert printed["latency_ms"]["p50"] == 0.68
    assert printed["latency_ms"]["std"] == 0.19
    assert printed["latency_ms"]["count"] == 50
    assert (printed["init_ms"], printed["first_inference_ms"], printed["warmup_mean_ms"]) == (
        11.77,
        1.28,
        0.84,
    )


def test_litert_benchmark_does_not_say_what_ran_where(read):
    accelerator = read(LITERT_JSON.replace('"CPU"', '"GPU", "CPU"'))["accelerator"]
    assert (accelerator["requested"], accelerator["used"]) == ("gpu", None)


def test_litert_in_cpp(read):
    model = read(LITERT_CPP)
    assert model["init_ms"] == 11.77
    assert model["latency_ms"]["count"] == 50
    assert model["latency_ms"]["p50"] == pytest.approx(0.683)
    assert model["latency_ms"]["mean"] == pytest.approx(0.7415)  # not the rounded 0.74
    assert model["memory"]["overall_bytes"] == 4 * 2**20


def test_proto_text(read):
    model = read(PROTO_TEXT)
    assert model["init_ms"] == 12.345
    assert model["warmup_mean_ms"] == 3.25
    assert model["bytes"] == 1_250_000
    assert model["latency_ms"]["p50"] == 2.4375
    assert model["latency_ms"]["std"] == 0.125
    assert model["latency_ms"]["count"] == 400
    assert model["memory"] == {"init_bytes": 2**21, "overall_bytes": 2**22, "peak_bytes": 15 * 2**20}


def test_proto_json(read):
    model, expected = read(PROTO_JSON), read(PROTO_TEXT)
    for name in ("p50", "p95", "mean", "std", "count"):
        assert model["latency_ms"][name] == expected["latency_ms"][name]
    assert model["init_ms"] == expected["init_ms"]
    assert model["bytes"] == expected["bytes"]
    assert model["memory"]["init_bytes"] == 2**21


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there is no latency in it"),
        ("hello\n", "there is no latency in it"),
        ("{}", "there is no latency in it"),
        ('{"latency": ', "it is no JSON: expecting value at line 1, column 13"),
        (SHELL + SHELL, "several results are in it; one a file is needed"),
        (LITERT + LITERT, "several results are in it"),
        (SHELL[: SHELL.index("INFO: count=1000")], "there is no latency in it"),
        (
            "INFO: STARTING!\nERROR: Failed to allocate tensors!\nERROR: Benchmarking failed.\n",
            "its run failed",
        ),
        ('{"avg_ms": -1}', "avg_ms is -1, which cannot be"),
        ('{"avg_ms": "nan"}', "avg_ms is nan, which cannot be"),
        ('{"avg_ms": 1, "num_runs": [1]}', "num_runs is '[1]', and a number is needed"),
        ('{"avg_ms": 1, "graph": 7}', "graph is wrong: 7 is not of type 'string'"),
        ('{"avg_ms": NaN}', "it holds NaN"),
        ("{" * 3 + '"a":' * 3, "it is no JSON"),
        ('{"avg_ms": "fast"}', "avg_ms is 'fast', and a number is needed"),
    ],
)
def test_other_content_is_refused_in_one_line(read, tmp_path, content, message):
    with pytest.raises(InputError, match="is no output of benchmark_model or litert-benchmark") as raised:
        read(content)
    assert message in str(raised.value)
    assert str(tmp_path / "result.txt") in str(raised.value)
    assert "\n" not in str(raised.value)


def test_binary_content_is_refused(tmp_path):
    (tmp_path / "result.pb").write_bytes(b"\n\x1e\t\xae\xff\xfe")
    with pytest.raises(InputError, match=r"result\.pb is no output of benchmark_model"):
        official_tools.read_result(tmp_path / "result.pb")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*gone\.txt"):
        official_tools.read_result(tmp_path / "gone.txt")


def import_texts(tmp_path, *texts, **arguments):
    paths = []
    for index, text in enumerate(texts):
        paths.append(tmp_path / f"result{index}.txt")
        paths[-1].write_text(text)
    return official_tools.import_results(paths, **arguments)


def test_two_results_make_a_report(tmp_path):
    report = import_texts(tmp_path, SHELL, LOGCAT, device_name="Maker Phone 7")
    reports.validate(report)
    assert [(model["name"], model["role"]) for model in report["models"]] == [
        ("tiny_float32.tflite", "original"),
        ("big_fp16.tflite", "mobile"),
    ]
    (pair,) = report["pairs"]
    assert pair["ratio"]["value"] == pytest.approx(2709.263 / 51.891)
    assert pair["ratio"]["of"] == "median"
    assert (pair["ratio"]["low"], pair["ratio"]["high"], pair["agreement"]) == (None, None, None)
    assert report["tool"]["name"] == "benchmark_model"
    assert report["device"]["name"] == "Maker Phone 7"
    assert report["settings"]["threads"] is None  # they differ
    assert report["warnings"][0]["code"] == "imported"
    assert "no interval" in report["warnings"][0]["message"]


def test_report_of_all_forms_follows_the_schema(tmp_path):
    texts = SHELL, ONE_LINE, OLD, LITERT, LITERT_CPP, PROTO_TEXT, PROTO_JSON
    report = import_texts(tmp_path, *texts)
    reports.validate(report)
    assert report["tool"]["name"] == "benchmark_model, litert-benchmark"
    assert report["pairs"][0]["ratio"]["of"] == "mean"
    assert ("mean_compared", "result1.txt") in {(w["code"], w["model"]) for w in report["warnings"]}


def test_one_model_under_two_settings_is_told_apart_by_the_files(tmp_path):
    report = import_texts(tmp_path, GPU, GPU.replace("Use gpu: [1]", "Use gpu: [0]"))
    assert [model["name"] for model in report["models"]] == ["result0.txt", "result1.txt"]


def test_one_file_given_twice(tmp_path):
    (tmp_path / "a.txt").write_text(SHELL)
    with pytest.raises(InputError, match=r"names of their own, got a\.txt, a\.txt"):
        official_tools.import_results([tmp_path / "a.txt"] * 2)


def test_installed_litert_benchmark(tmp_path):
    tool = pathlib.Path(sys.executable).with_name("litert-benchmark")
    if not tool.exists():
        pytest.skip("ai-edge-litert brings no litert-benchmark here")
    builder = Builder()
    given, made = builder.tensor((1, 64)), builder.tensor((1, 64))
    builder.op("ADD", [given, builder.constant(np.ones((1, 64)))], [made], "AddOptions")
    model, written = tmp_path / "float32.tflite", tmp_path / "written.json"
    model.write_bytes(builder.content([given], [made]))
    command = [tool, f"--model={model}", "--num_runs=20", "--num_threads=2", f"--result_json={written}"]
    run = subprocess.run(
        command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120
    )
    (tmp_path / "printed.txt").write_text(run.stdout)
    tool, from_json = official_tools.read_result(written)
    assert official_tools.read_result(tmp_path / "printed.txt")[1]["latency_ms"] == from_json["latency_ms"]
    assert tool == "litert-benchmark"
    assert from_json["name"] == "float32.tflite"
    assert from_json["latency_ms"]["count"] == 20
    assert from_json["threads"]["requested"] == 2
    assert set(from_json["latency_ms"]) == set(statistics_of_a_run())


def statistics_of_a_run():
    return reports.model("m", [[1.0]])["latency_ms"]
