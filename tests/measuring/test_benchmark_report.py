import copy
import json

import jsonschema
import pytest

from hsvit_keras.tasks import Segmentation
from hsvit_runtime.errors import InputError
from measuring import benchmark_report
from tests.export import reports


def test_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(reports.SCHEMA)


def test_report_of_a_phone_follows_the_schema():
    report = reports.phone_report()
    reports.validate(report)
    assert report["warnings"] == []
    (pair,) = report["pairs"]
    assert (pair["original"], pair["mobile"]) == ("original.tflite", "mobile.tflite")
    assert pair["ratio"] == {"of": "median", "value": 0.5, "low": 0.5, "high": 0.5, "confidence": 0.95}
    assert pair["agreement"]["top1_agreement"] == 0.975


@pytest.mark.parametrize(
    "damage",
    [
        lambda report: report.pop("warnings"),
        lambda report: report.update(extra=1),
        lambda report: report.update(schema_version=1),
        lambda report: report.pop("task"),
        lambda report: report["task"].update(metric="accuracy"),
        lambda report: report["task"]["agreement"].pop("title"),
        lambda report: report["models"][0].update(sha256="abc"),
        lambda report: report["models"][0].update(bytes="many"),
        lambda report: report["models"][0].update(inputs={}),
        lambda report: report["models"][0]["outputs"][0].pop("scale"),
        lambda report: report["models"][0].update(input_range=[0]),
        lambda report: report["models"][0].update(metrics={"accuracy": "high"}),
        lambda report: report["models"][0]["blocks_ms"].append([-1.0]),
        lambda report: report["models"][1]["accelerator"].update(used="xnnpack"),
        lambda report: report["device"]["before"].update(time="yesterday"),
        lambda report: report["device"]["after"].update(thermal_status=7),
        lambda report: report["device"].pop("after"),
        lambda report: report["pairs"][0]["agreement"].update(top1_agreement="97.5"),
        lambda report: report["pairs"][0]["agreement"].update(largest_output=3.0),
        lambda report: report["pairs"][0]["agreement"].pop("cosine"),
        lambda report: report.update(pairs=[]),
    ],
)
def test_schema_refuses(damage):
    report = reports.phone_report()
    damage(report)
    with pytest.raises(jsonschema.ValidationError):
        reports.validate(report)


@pytest.mark.parametrize(
    ("task", "name", "metric"), [(None, "tensors", None), (Segmentation(), "segmentation", "mean_iou")]
)
def test_the_task_is_described(task, name, metric):
    models = [reports.model(each, [[1.0] * 60] * 2) for each in ("o", "m")]
    report = benchmark_report.assemble(**{**reports.phone(), "task": task}, models=models, agreements={})
    reports.validate(report)
    assert report["task"]["name"] == name
    if metric is None:
        assert (report["task"]["metric"], report["task"]["agreement"]) == (None, None)
    else:
        assert report["task"]["metric"] == {
            "name": metric,
            "title": "Mean IoU",
            "higher_is_better": True,
            "is_share": True,
        }


def test_a_report_is_read_and_checked(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(reports.phone_report()))
    assert benchmark_report.read(path) == reports.phone_report()
    path.write_text(json.dumps(reports.phone_report() | {"pairs": []}))
    with pytest.raises(InputError, match=r"it does not follow benchmark.schema.json: at pairs, "):
        benchmark_report.read(path)
    path.write_text("{")
    with pytest.raises(InputError, match="is no JSON: "):
        benchmark_report.read(path)


def test_a_report_of_another_version_is_refused():
    with pytest.raises(InputError, match=r"^it has schema_version 1, .* reads 2: measure again$"):
        benchmark_report.check({**reports.phone_report(), "schema_version": 1})
    for content in ([], {}, {"schema_version": "2"}):
        with pytest.raises(InputError, match=r"does not follow benchmark\.schema\.json"):
            benchmark_report.check(content)


def test_every_mobile_model_is_compared_with_the_original():
    models = [
        reports.model(name, [[ms] * 10] * 10)
        for name, ms in (("o", 8.0), ("a", 4.0), ("b", 2.0), ("c", 16.0))
    ]
    report = benchmark_report.assemble(**reports.phone(), models=models, agreements={"b": None})
    assert [(pair["mobile"], pair["ratio"]["value"]) for pair in report["pairs"]] == [
        ("a", 0.5),
        ("b", 0.25),
        ("c", 2.0),
    ]
    assert {pair["original"] for pair in report["pairs"]} == {"o"}
    assert [pair["agreement"] for pair in report["pairs"]] == [None] * 3


def unmeasured(name, **latency):
    """A model of which only a summary is known."""
    model = reports.model(name, [[1.0]])
    return {**model, "blocks_ms": None, "latency_ms": dict.fromkeys(model["latency_ms"]) | latency}


def test_ratio_without_single_runs_has_no_interval():
    ratio = benchmark_report.ratio(unmeasured("o", p50=8.0, mean=9.0), unmeasured("m", p50=2.0, mean=3.0))
    assert ratio == {"of": "median", "value": 0.25, "low": None, "high": None, "confidence": None}


def test_ratio_of_means_where_a_median_is_missing_is_said():
    models = [unmeasured("o", mean=9.0, p50=8.0), unmeasured("m", mean=3.0)]
    report = benchmark_report.assemble(**reports.phone(), models=models, agreements={})
    assert report["pairs"][0]["ratio"]["of"] == "mean"
    assert report["pairs"][0]["ratio"]["value"] == pytest.approx(1 / 3)
    assert [(entry["code"], entry["model"]) for entry in report["warnings"]] == [("mean_compared", "m")]
    reports.validate(report)


def test_ratio_of_nothing_is_refused():
    with pytest.raises(InputError, match="neither median nor mean is known of both o and m"):
        benchmark_report.ratio(unmeasured("o", mean=9.0), unmeasured("m", p50=3.0))


def codes(report):
    return [(entry["code"], entry["model"]) for entry in benchmark_report.find_warnings(report)]


@pytest.mark.parametrize(
    ("place", "changes", "expected"),
    [
        (("device",), {"other_load_cores": 0.1}, []),
        (("device",), {"other_load_cores": 0.9}, [("busy", None)]),
        (("device", "after"), {"thermal_status": 2}, [("thermal", None)]),
        (("device", "before"), {"power_save": True}, [("power_save", None)]),
        (("device", "before"), dict.fromkeys(reports.state()), []),
        (("runtime",), {"debug_build": True}, [("debug_build", None)]),
        (("models", 1, "latency_ms"), {"p50": 1.0, "p90": 1.45}, []),
        (("models", 1, "latency_ms"), {"p50": 1.0, "p90": 1.55}, [("noisy", "mobile.tflite")]),
        (("models", 1, "latency_ms"), {"p50": None, "p90": None}, []),
        (("models", 0, "latency_ms"), {"count": 99}, [("few_runs", "original.tflite")]),
        (("models", 0, "latency_ms"), {"count": 99, "p99": None}, []),
        (("models", 1, "threads"), {"used": 4}, [("threads", "mobile.tflite")]),
        (("models", 1, "threads"), {"busy_cores": 1.0}, [("threads", "mobile.tflite")]),
        (("models", 1, "threads"), {"busy_cores": 2.8}, [("threads", "mobile.tflite")]),
        (("models", 1, "threads"), {"requested": 1, "used": 1, "busy_cores": 0.8}, []),
        (
            ("models", 1, "threads"),
            {"requested": 1, "used": None, "busy_cores": 1.9},
            [("threads", "mobile.tflite")],
        ),
        (("models", 1, "threads"), dict.fromkeys(("requested", "used", "busy_cores")), []),
    ],
)
def test_warnings(place, changes, expected):
    report = copy.deepcopy(reports.phone_report())
    target = report
    for step in place:
        target = target[step]
    target.update(changes)
    assert codes(report) == expected
    reports.validate({**report, "warnings": benchmark_report.find_warnings(report)})


def test_warnings_given_come_first():
    models = [reports.model("o", [[1.0] * 60] * 2), reports.model("m", [[1.0, 1.0, 2.0] * 20] * 2)]
    given = benchmark_report.warning("imported", "from elsewhere")
    report = benchmark_report.assemble(**reports.phone(), models=models, agreements={}, warnings=[given])
    assert [entry["code"] for entry in report["warnings"]] == ["imported", "noisy"]
    assert report["warnings"][1]["message"] == "one run in ten took 2.0 times the median or longer"
