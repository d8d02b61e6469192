"""The words say what the numbers say, and no more."""

import pytest

from export.choosing import answer
from hsvit_keras.tasks import TASKS

pytestmark = pytest.mark.once


def row(model, p50_ms, value, metric="accuracy", error=0.01):
    return {
        "file": f"{model}_int8.tflite",
        "model": model,
        "preset": "int8",
        "p50_ms": p50_ms,
        metric: value,
        "standard_error": error,
    }


def step(file, before, value, low, high):
    ratio = {"value": value, "low": low, "high": high, "confidence": 0.95}
    return {"file": f"{file}_int8.tflite", "from": f"{before}_int8.tflite", "ratio": ratio}


def comparison(task, rows, steps, worth, **changes):
    front = [one["file"] for one in rows]
    return {
        "task": TASKS[task].to_json(),
        "data": {"name": "digits", "split": "test", "samples": 1000},
        "device": "a machine",
        "threads": 1,
        "core": "cortex-a76",
        "rows": rows,
        "fronts": {"latency": front, "instructions": front[::-1], "size": front[:1]},
        "steps": steps,
        "worth": [f"{name}_int8.tflite" for name in worth],
        **changes,
    }


def test_the_answer():
    rows = [row("a", 0.5, 0.90), row("b", 1.0, 0.95), row("c", 2.0, 0.955, error=0.007)]
    steps = [step("b", "a", 2.0, 1.9, 2.1), step("c", "b", 2.0, 1.8, 2.2)]
    assert answer.lines(comparison("classification", rows, steps, ["a", "b"])) == [
        "Measured on a machine, 1 thread; accuracy on 1,000 samples of digits, test part. Its standard error "
        "is 0.7 points to 1 points: two that differ by less are called equal.",
        "a int8: 0.5 ms, accuracy 90.00%; the fastest; nothing below 1 ms has a measurably better accuracy.",
        "b int8: 1 ms, accuracy 95.00%; 2.000 [1.900, 2.100] times the latency of a int8, accuracy better by "
        "5 points; nothing has a measurably better accuracy.",
        "c int8: 2 ms, accuracy 95.50%; 2.000 [1.800, 2.200] times the latency of b int8, accuracy equal.",
        "By instructions on cortex-a76, the front is, from least to best: c int8, b int8, a int8.",
        "By size, the front is, from least to best: a int8.",
    ]


def test_latencies_whose_interval_holds_1_are_not_told_apart():
    rows = [row("a", 1.0, 0.90), row("b", 1.01, 0.95)]
    lines = answer.lines(comparison("classification", rows, [step("b", "a", 1.01, 0.99, 1.03)], ["b"]))
    assert lines[1] == "a int8: 1 ms, accuracy 90.00%; the fastest."
    assert "; not measurably slower than a int8, 1.010 [0.990, 1.030], accuracy better" in lines[2]


def test_another_task_and_no_instructions():
    rows = [row("a", 1.0, 0.50, "mean_iou"), row("b", 2.0, 0.6, "mean_iou")]
    found = comparison("segmentation", rows, [step("b", "a", 2.0, 1.9, 2.1)], ["a", "b"], core=None)
    del found["fronts"]["instructions"]
    lines = answer.lines(found)
    assert "mean IoU 60.00%" in lines[2] and "mean IoU better by 10 points" in lines[2]
    assert [line for line in lines if line.startswith("By ")] == [
        "By size, the front is, from least to best: a int8."
    ]


@pytest.mark.parametrize(
    ("value", "error", "expected"),
    [(0.95, 0.04, True), (0.95, 0.05, False), (0.95, 0.06, False), (0.85, 0.04, True)],
)
def test_what_differs(value, error, expected):
    """0.9 against others: one standard error, the larger one of both, is no difference."""
    metric = TASKS["classification"].metric
    assert answer.differ(row("a", 1, 0.9, error=0.001), row("b", 1, value, error=error), metric) is expected


def test_one_sample_is_no_difference():
    metric, count = TASKS["classification"].metric, 355
    share = 1 - 1 / count
    error = (share * (1 - share) / (count - 1)) ** 0.5
    assert not answer.differ(row("a", 1, 1.0, error=0.0), row("b", 1, share, error=error), metric)
