"""Trains small models, quantizes each with all tools, and tells how near the float model they stay."""

import collections
import pathlib

import keras
import numpy as np

from command_line.tables import table as text_table
from data_sets import load_dataset, sample_images
from export.quantizers import models
from export.quantizers.quantizers import quantizers
from hsvit_keras.artifacts.keras_model import predict
from hsvit_keras.compression.model_inputs import input_name
from hsvit_keras.model_files import load_model
from hsvit_runtime import files, inspection, json_files
from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import AMOUNT, SHARE, TEXT, count, mapping, or_null, record
from hsvit_runtime.litert import tflite_file
from hsvit_runtime.tflite_model import TFLiteModel
from measuring import device

CALIBRATION_IMAGES = 128
_CHANGES = ("QUANTIZE", "DEQUANTIZE")
TOOLS = ("ours", "TFLiteConverter", "ai-edge-quantizer")


_OPS = mapping(count())
_TOOL = {
    "anyOf": [
        record(failed=TEXT),
        record(error=AMOUNT, alike=SHARE, integer_ops=_OPS, float_ops=_OPS, partitions=or_null(count())),
    ]
}
_REPORT = record(models=mapping(record(accuracy=SHARE, tools=record(**dict.fromkeys(TOOLS, _TOOL)))))


def compare(workdir, names=(), *, epochs=15):
    """Compares, or goes on comparing.

    Args:
        workdir: folder of the trained models and of `quantizers.json`.
        names: sequence of str, names of models; all by default.
        epochs: int, how long a model is trained on digits.

    Returns:
        dict, what is in `quantizers.json`: `device`, and `models` with a dict for each of `accuracy`, that of
        the float model, and `tools`, with a dict for each: `error`, the root of the mean squared difference
        of the logits as a share of their spread; `alike`, the share of test images in the same class as the
        float model's; `integer_ops` and `float_ops`, by what they compute; `partitions` and `bytes`; or
        `failed`, why there is no artifact.

    Raises:
        InputError: a name is unknown.
    """
    unknown = set(names) - set(models.names())
    if unknown:
        raise InputError(f"--models: {', '.join(unknown)} is none of {', '.join(models.names())}")
    workdir = pathlib.Path(workdir)
    workdir.mkdir(parents=True, exist_ok=True)
    output = workdir / "quantizers.json"
    report = {"device": device.describe(), "models": {}}
    if output.exists():
        report = json_files.read(output, _REPORT, "comparison of quantizers")
    images = {part: _digits(part) for part in ("train", "test")}
    for name in names or models.names():
        if name not in report["models"]:
            model = _trained(name, workdir, images["train"], epochs)
            report["models"][name] = _compared(model, images)
            files.write_json(output, report)
            keras.utils.clear_session()
        print(table({name: report["models"][name]}), flush=True)
    return report


def table(compared):
    """A line for each model and tool as text."""
    rows = []
    for name, found in compared.items():
        for tool, facts in found["tools"].items():
            if "failed" in facts:
                rows.append((name, tool, None, None, None, None, facts["failed"][:60]))
                continue
            counts = (sum(facts[kind].values()) for kind in ("integer_ops", "float_ops"))
            rows.append(
                (name, tool, f"{facts['error']:.4f}", f"{facts['alike']:.1%}", *counts, facts["partitions"])
            )
    return text_table(
        ("model", "tool", "error", "same class", "integer ops", "float ops", "partitions"), rows
    )


def summary(report):
    """For people: where ours is the nearest, and where another tool is."""
    rows, nearest = [], 0
    for name, found in report["models"].items():
        tools = [found["tools"][tool] for tool in TOOLS]
        errors = [facts.get("error", np.inf) for facts in tools]
        nearest += errors[0] <= min(errors)
        cells = ["refused" if "failed" in facts else _cell(facts) for facts in tools]
        rows.append((name, f"{found['accuracy']:.1%}", *cells))
    heading = ("model", "accuracy", *(f"{tool}: error, ops" for tool in TOOLS))
    return f"{text_table(heading, rows)}\nours is the nearest on {nearest} of {len(rows)} models"


def _cell(facts):
    counts = (sum(facts[kind].values()) for kind in ("integer_ops", "float_ops"))
    return f"{facts['error']:.4f}, {' + '.join(map(str, counts))}"


def _digits(part):
    dataset = load_dataset("digits", part)
    return sample_images(dataset, len(dataset), image_shape=models.IMAGE_SHAPE, input_range=(0, 255))


def _trained(name, workdir, part, epochs):
    path = workdir / f"{name}.keras"
    if path.exists():
        return load_model(path)
    print(f"training {name}", flush=True)
    keras.utils.set_random_seed(0)
    model = models.create(name)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(*part, batch_size=64, epochs=epochs, verbose=0)
    with files.replacing(path) as temporary:
        model.save(temporary)
    return model


def _compared(model, images):
    test, labels = images["test"]
    expected = next(iter(predict(model, {input_name(model.inputs[0]): test}).values()))
    calibration = images["train"][0][:CALIBRATION_IMAGES]
    tools = {
        name: _nearness(quantize, model, calibration, test, expected)
        for name, quantize in quantizers().items()
    }
    return {"accuracy": float((expected.argmax(-1) == labels).mean()), "tools": tools}


def _nearness(quantize, model, calibration, test, expected):
    try:
        content = quantize(model, calibration)
        outputs = TFLiteModel(content).predict_only(test)
    except Exception as error:  # whatever another tool raises, or the runtime says of its file
        return {"failed": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    integer_ops, float_ops = _ops_by_type(content)
    return {
        "error": float(np.sqrt(np.square(outputs - expected).mean()) / expected.std()),
        "alike": float((outputs.argmax(-1) == expected.argmax(-1)).mean()),
        "integer_ops": integer_ops,
        "float_ops": float_ops,
        "partitions": inspection.inspect(content)["partitions"],
        "bytes": len(content),
    }


def _ops_by_type(content):
    """How many ops of each kind compute with integers, and how many with floats, but for changes of type.

    Returns:
        (dict, dict).
    """
    (graph,) = tflite_file.read(content, "model").subgraphs
    counts = collections.Counter((op.outputs[0].dtype == "int8", op.kind) for op in graph.ops)
    return [
        {kind: count for (is_int, kind), count in counts.items() if is_int == wanted and kind not in _CHANGES}
        for wanted in (True, False)
    ]
