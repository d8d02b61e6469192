"""Benchmark reports for tests, and the schema that all reports must follow."""

import copy
import json
import pathlib

import jsonschema

import measuring
from hsvit_keras.tasks import Classification
from measuring import benchmark_report, latency_statistics

SCHEMA = json.loads((pathlib.Path(measuring.__file__).parent / "benchmark.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def validate(report):
    """Raises unless `report` follows the schema, also after a round trip through JSON."""
    report = json.loads(json.dumps(report, allow_nan=False))
    VALIDATOR.validate(report)


def state(**changes):
    return {
        "time": "2026-01-02T03:04:05+00:00",
        "load_average": None,
        "thermal_status": 0,
        "thermal_headroom": 0.4,
        "battery_percent": 81,
        "charging": False,
        "power_save": False,
        **changes,
    }


def phone():
    """The arguments of `benchmark_report.assemble` for a phone, without its models."""
    return copy.deepcopy(
        {
            "task": Classification(),
            "tool": {"name": "android_demo", "version": "1.0"},
            "settings": {
                "blocks": 4,
                "runs": 30,
                "warmup": 5,
                "cooldown_s": 2.0,
                "threads": 2,
                "data": {"name": "digits", "split": "test", "samples": 40},
            },
            "device": {
                "name": "Maker Phone 7",
                "cpu": {
                    "name": "SoC 900",
                    "architecture": "arm64-v8a",
                    "logical_cores": 8,
                    "features": ["asimddp", "i8mm"],
                },
                "os": {"name": "Android", "version": "15", "api_level": 35},
                "memory_bytes": 8 * 2**30,
                "before": state(),
                "after": state(thermal_headroom=0.6, battery_percent=80),
                "other_load_cores": None,
            },
            "runtime": {
                "language": "Java 17",
                "packages": {"org.tensorflow:tensorflow-lite": "2.16.1"},
                "debug_build": False,
            },
        }
    )


def model(name, blocks_ms, **changes):
    """A model of a report that was measured on a phone."""
    return {
        "name": name,
        "role": "mobile",
        "bytes": 1_000_000,
        "sha256": "0123456789abcdef" * 4,
        "runtime": {"name": "TFLite Interpreter", "version": "2.16.1"},
        "threads": {"requested": 2, "used": 2, "busy_cores": 1.9},
        "accelerator": {
            "requested": "gpu",
            "used": "cpu",
            "delegate": "XNNPACK",
            "partitions": 1,
            "nodes_delegated": 30,
            "nodes_total": 31,
        },
        "inputs": [tensor("image", [1, 8, 8, 1])],
        "outputs": [tensor("logits", [1, 10])],
        "input_range": [0, 255],
        "init_ms": 12.5,
        "first_inference_ms": 4.0,
        "warmup_mean_ms": 2.5,
        "blocks_ms": blocks_ms,
        "latency_ms": latency_statistics.summarize([latency for block in blocks_ms for latency in block]),
        "memory": {"init_bytes": 3_000_000, "overall_bytes": None, "peak_bytes": 9_000_000},
        "metrics": {"accuracy": 0.975},
        **changes,
    }


def tensor(name, shape):
    return {"name": name, "shape": shape, "dtype": "float32", "scale": None, "zero_point": None}


def phone_report():
    """A complete report of a quiet phone: the mobile model takes half the time."""
    original = model("original.tflite", [[2.0, 2.1, 1.9] * 10] * 4, role="original", bytes=4_000_000)
    mobile = model("mobile.tflite", [[1.0, 1.05, 0.95] * 10] * 4)
    agreement = {"samples": 40, "max_abs_diff": 0.2, "cosine": 0.9995, "top1_agreement": 0.975}
    return benchmark_report.assemble(
        **phone(), models=[original, mobile], agreements={"mobile.tflite": agreement}
    )
