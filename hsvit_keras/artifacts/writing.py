"""What every conversion does around its own step: prepare, lower, convert, compare with Keras, then write.

Nothing is written unless the artifact computes what the Keras model computes.
"""

import collections
import dataclasses
import functools
import hashlib
import importlib.metadata
import pathlib

import keras
from keras import layers

from hsvit_keras.artifacts import comparison
from hsvit_keras.artifacts.keras_model import output_names, predict
from hsvit_keras.artifacts.model_outputs import activation_of, gives_probabilities, loss_of
from hsvit_keras.backends import require_backend
from hsvit_keras.compression.calibration import Calibration, calibrate
from hsvit_keras.compression.equalization import equalize
from hsvit_keras.compression.graph import functional
from hsvit_keras.compression.model_inputs import input_name, named_inputs
from hsvit_keras.compression.quantization import is_quantized, remove_quantization
from hsvit_keras.compression.ranges import ActivationRange
from hsvit_keras.compression.rewriting import rewrite, with_dtype
from hsvit_keras.layers.detection_output import with_detections
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.model_files import check_finite, load_model
from hsvit_keras.tasks import Classification, task_of
from hsvit_runtime import files, inspection, outputs
from hsvit_runtime.errors import InputError
from hsvit_runtime.onnx_model import OnnxModel
from hsvit_runtime.presets import ONNX_PRESETS, ONNX_TENSOR_TYPES, PRESETS, TENSOR_TYPES, preset_named
from hsvit_runtime.tflite_model import TFLiteModel

_MADE_UP_SAMPLES = 16
_ALLOWING = "; --allow_loss, or allow_loss=True, writes it all the same"


@dataclasses.dataclass(frozen=True)
class Samples:
    """Inputs to compare a model and its artifact on.

    Attributes:
        inputs: array (count, ...); of a model with several inputs, a list of an array for each, or a dict
            from an input's name to its array.
        labels: array (count, ...) of the labels, None where they are not those of the model's outputs.
        data: str, the data set that they come from, for the report.
    """

    inputs: object
    labels: object = None
    data: str | None = None


def to_tflite(
    model,
    path,
    *,
    preset="dynamic",
    calibration=None,
    samples=None,
    batch_size=1,
    runtime=None,
    input_type="float32",
    output_type="float32",
    probabilities=None,
    detections=None,
    author=None,
    licence=None,
    allow_loss=False,
):
    """Writes a `.tflite` file after comparing it with the model, and a report beside it.

    It is compared with the Keras model that it is made from, which has ranges for "int8", and with the model
    that is handed in: the report's `parity` and `parity_with_original`.

    Args:
        model: `keras.Model` as a Functional graph or `keras.Sequential`, or path of a `.keras` file.
        path: str or path of the file to write; its report goes to the same name with `.json`.
        preset: str, one of "float32", "float16", "dynamic", "int8".
        calibration: for "int8", a `Calibration`, or batches of inputs as `hsvit_keras.calibrate` takes them;
            needed where the model has no ranges of its own.
        samples: `Samples`, or inputs as of `Samples`, to compare the outputs on; random ones by default.
        batch_size: int, samples at a time, or None for any number; XNNPACK takes less of a graph for any.
        runtime: str such as "2.16", the oldest runtime that has to load it; the current one by default.
        input_type: str, "float32", or "uint8" or "int8" for a model whose activations are quantized.
        output_type: str, the same for the outputs.
        probabilities: bool, whether a softmax stands behind the logits; by default where the task is
            classification.
        detections: int, how many of a detector's best detections the file gives in place of all boxes and
            logits, see `hsvit_keras.layers.DetectionOutput`; None for boxes and logits.
        author: str for the file's metadata, or None.
        licence: str for the file's metadata, or None.
        allow_loss: bool, whether to write it though it differs by more than the limits of the preset.

    Returns:
        dict, the report that was written.

    Raises:
        InputError: the model cannot be held, the artifact computes something else, or would not load on
            the runtime.
        OSError: a file cannot be read or written.

    Example:

    ```python
    hsvit_keras.to_tflite("best.keras", "model.tflite", preset="int8", calibration=[pixels])
    ```
    """
    require_backend("tensorflow")
    from hsvit_keras.artifacts import lowering, sampling, tflite_conversion
    from hsvit_runtime import metadata

    types = {"input_type": input_type, "output_type": output_type}
    _check_types(types, TENSOR_TYPES, preset_named(preset), preset)
    tflite_conversion.parse_version(runtime)

    def make(prepared):
        finished = prepared.finished(integer_output=output_type != "float32")
        lowered = lowering.lower(finished, batch_size, tflite_conversion.is_older(runtime))
        convert = functools.partial(tflite_conversion.convert, preset=preset, runtime=runtime, **types)
        content = convert(lowered)
        content = metadata.write(
            content,
            prepared.description,
            name=prepared.model.name,
            summary=_summary(prepared),
            version=importlib.metadata.version("hsvit-keras"),
            author=author,
            licence=licence,
            input_names=[input_name(tensor) for tensor in prepared.model.inputs],
            output_names=prepared.output_names,
        )
        facts = {**tflite_facts(content, runtime), **sampling.sampling_of(lowered, convert)}
        return content, facts, TFLiteModel(content)

    request = _Request(
        path,
        ".tflite",
        preset,
        PRESETS,
        calibration,
        samples,
        batch_size,
        probabilities,
        allow_loss,
        detections,
    )
    return _write(model, request, make)


def to_onnx(
    model,
    path,
    *,
    preset="float32",
    calibration=None,
    samples=None,
    batch_size=None,
    opset=17,
    input_type="float32",
    output_type="float32",
    probabilities=False,
    allow_loss=False,
):
    """Writes an `.onnx` file after comparing it with the model, and a report beside it.

    Args:
        model: `keras.Model` as a Functional graph or `keras.Sequential`, or path of a `.keras` file.
        path: str or path of the file to write; its report goes to the same name with `.onnx.json`.
        preset: str, "float32", "float16" or "int8".
        calibration: see `to_tflite`.
        samples: see `to_tflite`.
        batch_size: int, samples at a time; None for any number.
        opset: int, version of the ONNX operators, at least 17.
        input_type: str, "float32", or "uint8" for the preset "int8"; the file says which value an integer
            stands for, pixels being themselves.
        output_type: str, likewise.
        probabilities: bool, whether a softmax stands behind the logits.
        allow_loss: see `to_tflite`.

    Returns:
        dict, the report that was written.

    Raises:
        InputError: the model cannot be held, or the artifact computes something else.
        OSError: a file cannot be read or written.
    """
    require_backend("tensorflow")
    from hsvit_keras.artifacts import lowering, onnx_conversion

    types = {"input_type": input_type, "output_type": output_type}
    _check_types(types, ONNX_TENSOR_TYPES, preset_named(preset, ONNX_PRESETS), preset)

    def make(prepared):
        finished = prepared.finished(integer_output=output_type != "float32")
        lowered = lowering.lower(finished, batch_size)
        content = onnx_conversion.convert(
            lowered,
            preset=preset,
            opset=opset,
            description=prepared.description,
            names=prepared.output_names,
            **types,
        )
        return content, _onnx_facts(content), OnnxModel(content)

    request = _Request(
        path, ".onnx", preset, ONNX_PRESETS, calibration, samples, batch_size, probabilities, allow_loss
    )
    return _write(model, request, make)


def _check_types(types, known, preset, name):
    """Raises `InputError` if inputs or outputs are to be of a type that a preset has not."""
    for argument, value in types.items():
        if value not in known or (value != "float32" and not preset.needs_ranges):
            raise InputError(
                f"{argument} has to be float32, or {' or '.join(known[1:])} with preset='int8'; "
                f"received {argument}={value!r}, preset={name!r}"
            )


def report_of(artifact):
    """Where the report of an artifact goes: `M.json` beside `M.tflite`, `M.onnx.json` beside `M.onnx`."""
    artifact = pathlib.Path(artifact)
    return artifact.with_suffix(".json" if artifact.suffix == ".tflite" else f"{artifact.suffix}.json")


def tflite_facts(content, runtime=None):
    """What a `.tflite` file is, for its report.

    Args:
        content: bytes.
        runtime: str such as "2.16", the oldest runtime that has to load it.

    Returns:
        dict of `hsvit_runtime.inspection.inspect`.

    Raises:
        InputError: it needs ops beyond LiteRT, or would not load on the runtime.
    """
    found = inspection.inspect(content, runtime=runtime)
    if found["flex_ops"] or found["custom_ops"]:
        raise InputError(f"the artifact needs ops beyond LiteRT: {found['flex_ops'] + found['custom_ops']}")
    if found["loads_on_runtime"] is False:
        needs = ", ".join(f"{need['feature']} needs {need['runtime']}" for need in found["runtime_needs"])
        raise InputError(f"the artifact would not load on runtime {runtime}: {needs}")
    return found


def _onnx_facts(content):
    """What an `.onnx` file is, for its report."""
    import onnx

    model = onnx.load_from_string(content)
    return {
        "opset": next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")),
        "ops": dict(collections.Counter(node.op_type for node in model.graph.node)),
    }


def with_ranges(model, calibration):
    """The model with ranges: its own, or a copy with those of a `Calibration` or of its batches.

    Raises:
        InputError: it has none, and there are no calibration batches; or it has some and is to be equalized.
    """
    if calibration is not None:
        return _calibrated(model, calibration)
    if not is_quantized(model):
        raise InputError(
            f"{model.name!r} has no ranges, which int8 needs: train it with hsvit_keras.quantize_aware, or "
            "give calibration data that they can be taken from"
        )
    return model


def _calibrated(model, calibration):
    if not isinstance(calibration, Calibration):
        calibration = Calibration(calibration)
    had_ranges = is_quantized(model)
    if had_ranges and calibration.equalizes:
        raise InputError(
            f"{model.name!r} has ranges already, and equalize is for a float model: remove_quantization "
            "gives it"
        )
    if had_ranges:
        model = rewrite(model)
    elif calibration.equalizes:
        model = equalize(model)
    corrects_biases = calibration.corrects_biases and not had_ranges
    return calibrate(model, calibration.batches, calibration.ranges, corrects_biases)


def as_float(model):
    """The model itself, or the float model of a quantized one."""
    return remove_quantization(model) if is_quantized(model) else model


def in_float32(model):
    """The model itself, or a copy of a half-precision one: artifacts compute in float32."""
    if all(layer.compute_dtype in ("float32", None) for layer in model.layers if layer.weights):
        return model
    return with_dtype(model, "float32")


@dataclasses.dataclass(frozen=True)
class _Request:
    """What is to be written, and how it is to be compared."""

    path: object
    suffix: str
    preset: str
    presets: dict
    calibration: object
    samples: object
    batch_size: int | None
    probabilities: bool | None
    allow_loss: bool
    detections: int | None = None


@dataclasses.dataclass(frozen=True)
class _Prepared:
    """A model as its artifact has to compute it, the one that it was made of, and what the artifact says."""

    model: keras.Model
    original: keras.Model
    description: object
    task: object

    @property
    def output_names(self):
        """Names of the artifact's outputs."""
        return output_names(self.original, "probabilities" if self.description.probabilities else "logits")

    def finished(self, integer_output=False):
        """The model with the softmax of its artifact; integers need the range of probabilities, too."""
        if not self.description.probabilities or gives_probabilities(activation_of(self.model)):
            return self.model
        outputs = layers.Softmax(name="probabilities", dtype="float32")(self.model.output)
        if integer_output:
            outputs = ActivationRange(fixed=(0.0, 255 / 256), name="probabilities_range")(outputs)
        return keras.Model(self.model.input, outputs, name=self.model.name)


def _write(model, request, make):
    """Makes one artifact with its report."""
    output, preset = pathlib.Path(request.path), preset_named(request.preset, request.presets)
    if output.suffix != request.suffix:
        raise InputError(f"the output's name has to end in {request.suffix}; received {output}")
    if request.calibration is not None and not preset.needs_ranges:
        raise InputError(f"calibration is for preset='int8'; received preset={request.preset!r}")
    if request.batch_size is not None and request.batch_size < 1:
        raise InputError(f"batch_size has to be at least 1, or None; received {request.batch_size}")
    described_in = report_of(output)
    outputs.check(described_in, outputs.json_with("sha256"))
    with files.replacing(output) as artifact, files.replacing(described_in) as described:
        prepared = _prepare(model, request, preset)
        inputs, labels, data = _samples_of(request.samples, prepared)
        content, facts, runnable = make(prepared)
        parity, with_original, simulated = _compared(prepared, runnable, inputs, labels)
        if not request.allow_loss:
            is_noise = request.samples is None
            limits = preset.original_limits_on_noise if is_noise else preset.original_limits
            if simulated is None or not comparison.is_as_near(with_original, simulated):
                comparison.check(parity, preset.limits, _ALLOWING)
            comparison.check_with_original(with_original, limits, _ALLOWING)
        report = {
            "artifact": output.name,
            "model": model.name if isinstance(model, keras.Model) else str(model),
            "preset": request.preset,
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "input": runnable.inputs[0].to_json(),
            "output": runnable.outputs[0].to_json(),
            "inputs": [tensor.to_json() for tensor in runnable.inputs],
            "outputs": [tensor.to_json() for tensor in runnable.outputs],
            **facts,
            "task": prepared.task.to_json(),
            "description": runnable.description.to_json(),
            "parity": {"data": data, **parity},
            "parity_with_original": {"data": data, **with_original},
        }
        artifact.write_bytes(content)
        files.write_json(described, report)
    return report


def _compared(prepared, runnable, inputs, labels):
    """How near an artifact is to the Keras model that it was made from, and to the one handed in.

    Returns:
        (dict, dict, dict or None): both comparisons, and that of the two Keras models where they differ.
    """

    def outputs_of(model):
        return dict(zip(prepared.output_names, predict(model, inputs).values(), strict=True))

    is_softmax = gives_probabilities(activation_of(prepared.original))
    outputs, made_from = runnable.predict(inputs), outputs_of(prepared.model)
    compare = functools.partial(
        comparison.compare, prepared.task, artifact=runnable, expected_probabilities=is_softmax
    )
    parity = compare(made_from, outputs, labels=labels)
    if prepared.model is prepared.original:
        return parity, parity, None
    original = outputs_of(prepared.original)
    simulated = comparison.compare_outputs(
        prepared.task, original, made_from, are_probabilities=(is_softmax, is_softmax)
    )
    return parity, compare(original, outputs, labels=labels), simulated


def _prepare(model, request, preset):
    if isinstance(model, keras.Model):
        check_finite(model, repr(model.name))
    else:
        model = load_model(model)
    loss = loss_of(model)
    original = model = in_float32(functional(model))
    for tensor in model.inputs:
        if None in tensor.shape[1:]:
            raise InputError(
                f"{model.name!r} takes inputs of any size, {tensor.shape}; an artifact needs one size"
            )
    model = with_ranges(model, request.calibration) if preset.needs_ranges else as_float(model)
    description = description_of(model)
    shapes, activation = [tuple(tensor.shape) for tensor in model.outputs], activation_of(original)
    task = task_of(description, shapes, activation, loss)
    task.check_outputs(shapes, description.class_names, repr(model.name))
    probabilities = request.probabilities
    if probabilities is None:
        probabilities = isinstance(task, Classification)
    if probabilities and not isinstance(task, Classification):
        raise InputError(f"only a classifier gives probabilities; {model.name!r} is for {task.name}")
    description = dataclasses.replace(
        description,
        task=description.task or (task.name if task.name != "tensors" else None),
        probabilities=probabilities or (task.name != "tensors" and gives_probabilities(activation)),
    )
    if request.detections is not None:
        if task.name != "detection":
            raise InputError(
                f"detections are of a model for detection; {model.name!r} is for {task.name}, "
                f"received detections={request.detections}"
            )
        model, original = (with_detections(each, request.detections) for each in (model, original))
    return _Prepared(model, original, description, task)


def _samples_of(samples, prepared):
    """(dict of inputs, labels or None, name of the data set or None)."""
    if samples is None:
        inputs = comparison.made_up_inputs(prepared.model, prepared.description, _MADE_UP_SAMPLES)
        return inputs, None, None
    samples = samples if isinstance(samples, Samples) else Samples(samples)
    return named_inputs(prepared.model, samples.inputs, "samples"), samples.labels, samples.data


def _summary(prepared):
    data = f", trained on {prepared.description.data_set}" if prepared.description.data_set else ""
    return f"{prepared.model.name}, {prepared.task.name}{data}"
