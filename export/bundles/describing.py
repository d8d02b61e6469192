"""What a bundle says of one model: its file, tensors, metrics, and the outputs that count as correct."""

import dataclasses
import hashlib
import re

import keras
import numpy as np

from export.bundles import fitting, references
from hsvit_keras.artifacts.keras_model import predict
from hsvit_keras.artifacts.model_outputs import activation_of, gives_probabilities
from hsvit_keras.artifacts.writing import report_of
from hsvit_keras.compression.model_inputs import input_name
from hsvit_keras.layers.model_description import description_of
from hsvit_runtime import inspection, json_files
from hsvit_runtime.errors import FileError, InputError, MissingFileError
from hsvit_runtime.json_schemas import TEXT, record
from hsvit_runtime.litert import xnnpack_2_16
from hsvit_runtime.pixels import in_range
from hsvit_runtime.tflite_model import TFLiteModel
from measuring import cutting

# Runtimes add in different orders, so outputs differ; up to this share of the largest output that is correct.
_ROUNDING = 1e-4


@dataclasses.dataclass(frozen=True)
class Correct:
    """Correct outputs and what computed them.

    Attributes:
        outputs: list of float32 arrays (count, ...), in the order of the file.
        runtime: str.
    """

    outputs: list
    runtime: str


def of_keras(images, model, original):
    """The trained model's own outputs, with the softmax that the artifact has.

    Args:
        images: `images.Images` of the bundle.
        model: `keras.Model`.
        original: path of the float32 `.tflite` file of it.

    Returns:
        `Correct`.
    """
    inputs = images.inputs_for(description_of(model))[: images.count]
    outputs = predict(model, {input_name(model.inputs[0]): inputs})
    artifact = TFLiteModel(original)
    if artifact.description.probabilities and not gives_probabilities(activation_of(model)):
        outputs = {name: np.asarray(keras.ops.softmax(array)) for name, array in outputs.items()}
    if len(outputs) > 1:
        outputs = {tensor.name: outputs[tensor.name] for tensor in artifact.outputs}
    return Correct(list(outputs.values()), f"Keras {keras.version()}")


def describe(folder, images, path, title, *, first=None, correct=None):
    """Writes the correct outputs of a model into the folder of a bundle; its own file is not written.

    How far outputs may be from the correct ones is measured: twice as far as they are here, or as the outputs
    of plain kernels are from the delegate's.

    Args:
        folder: path of the bundle.
        images: `images.Images` of it.
        path: path of the `.tflite` file.
        title: str, what the app calls it.
        first: dict, what this gave of the first model; None for that one.
        correct: `Correct`; what LiteRT computes here by default.

    Returns:
        dict, what `bundle.json` says of it.

    Raises:
        InputError: the model is not for these images, is no model like the first, or gives NaN.
    """
    model, plain = TFLiteModel(path), TFLiteModel(path, delegate=False)
    limits = images.range_for_file(path, model)
    _check_tensors(path, model, images)
    tensors = [tensor.to_json() for tensor in model.outputs]
    fitting.check_outputs(path, tensors, first)
    rule = _rule(path, images.task, tensors)
    fitting.check_classes(path, tensors, rule, images.class_names)
    inputs = {model.inputs[0].name: in_range(images.pixels, limits)}
    outputs, plain_outputs = model.predict(inputs), plain.predict(inputs)
    if not all(np.isfinite(array).all() for array in outputs.values()):
        raise InputError(f"{path} gives NaN or infinity for some images")
    if correct is None:
        here = [array[: images.count] for array in outputs.values()]
        correct = Correct(here, f"{model.runtime['name']} {model.runtime['version']}")
    of_file = dict(zip(outputs, correct.outputs, strict=True))
    allowed = {
        name: _limit(outputs[name], plain_outputs[name], of_file[name]) if _is_ordered(rule, name) else None
        for name in outputs
    }
    content = path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    return {
        "file": path.name,
        "title": title,
        "preset": _preset(path, sha256),
        "bytes": len(content),
        "sha256": sha256,
        "input": {
            **model.inputs[0].to_json(),
            "range": [float(value) for value in limits],
        },
        "outputs": tensors,
        "reference": references.write(folder, path.stem, of_file, allowed, correct.runtime),
        "delegation": _delegation(content),
        "metrics": {} if images.labels is None else images.task.evaluate(outputs, images.labels),
    }


def _delegation(content):
    """What the delegate of the app's runtime takes; None where that runtime does not load the file."""
    found = inspection.inspect(content)["delegation"][xnnpack_2_16.RUNTIME]
    return found and {name: found[name] for name in ("nodes_delegated", "nodes_total", "partitions")}


def cuts(folder, path):
    """Writes a model cut into kinds of operations into the folder of a bundle.

    Args:
        folder: path of the bundle.
        path: path of the `.tflite` file.

    Returns:
        list of dicts, what `bundle.json` says of each file.
    """
    described = []
    for kind, parts in cutting.cut(path.read_bytes()).items():
        for number, content in enumerate(parts):
            file = f"cuts/{path.stem}/{re.sub(r'[^A-Za-z]+', '_', kind)}_{number}.tflite"
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
            sha256 = hashlib.sha256(content).hexdigest()
            described.append({"kind": kind, "file": file, "bytes": len(content), "sha256": sha256})
    return described


def _rule(path, task, tensors):
    try:
        return task.detection_rule([tensor["name"] for tensor in tensors])
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _is_ordered(rule, name):
    """Whether numbers keep their places; those of the best boxes go with boxes, which may change theirs."""
    return rule is None or rule["classes"] is None or name == rule["scores"]


def _limit(outputs, plain_outputs, correct):
    difference = max(np.abs(outputs[: len(correct)] - correct).max(), np.abs(outputs - plain_outputs).max())
    return float(f"{_ROUNDING * max(1.0, np.abs(outputs).max()) + 2 * difference:.3g}")


def _check_tensors(path, model, images):
    """Raises `InputError` if a model is not for these images, or the app does not show its outputs."""
    inputs, shape = [tensor.shape for tensor in model.inputs], images.pixels.shape[1:]
    if len(inputs) != 1 or inputs[0] != (1, *shape):
        raise InputError(f"{path} takes {inputs}, but the original images {shape}: nothing to compare")
    shapes = [tensor.shape for tensor in model.outputs]
    if any(not 1 <= len(shape) <= 4 or shape[0] != 1 for shape in shapes):
        raise InputError(f"the app shows models with outputs (1, ...) of 1 to 4 axes; {path} gives {shapes}")


def _preset(path, sha256):
    """The preset in the converter's report beside a file; None without one."""
    try:
        report = json_files.read(report_of(path), record(preset=TEXT, sha256=TEXT))
    except (MissingFileError, FileError, InputError):
        return None
    return report["preset"] if report["sha256"] == sha256 else None
