"""What every converter does around its own step: load, lower, compare with Keras, then write.

Nothing is written unless the artifact answers as the Keras model does on real images.
"""

import dataclasses
import json
import pathlib
import shutil

import numpy as np
from absl import flags

from command_line import commands
from hsvit_keras.backends import require_backend
from hsvit_runtime import files, model_files
from hsvit_runtime.errors import InputError
from measuring import latency_statistics

FLAGS = flags.FLAGS
_IMAGES_AT_A_TIME = 128


@dataclasses.dataclass(frozen=True)
class Request:
    """What to convert, and how to prove it; see `define_flags` for the meanings and units."""

    model: str
    output: str
    batch: int = 1
    pixels: bool = False
    mean: float | list | None = None
    std: float | list | None = None
    labels: str | None = None
    data: str = "digits"
    data_dir: str | None = None
    samples: int = 64


def define_flags():
    """The flags of a `Request`."""
    flags.DEFINE_string("model", None, "The .keras file to convert.")
    flags.DEFINE_string("output", None, "The artifact to write; a report goes beside it as .json.")
    flags.DEFINE_integer("batch", 1, "Images at a time; the artifact takes no other number.", lower_bound=1)
    flags.DEFINE_bool("pixels", False, "Let the artifact take pixels of 0..255 and normalize them itself.")
    flags.DEFINE_list(
        "mean", None, "Subtracted from pixels of 0..1 in training: one number or one a channel."
    )
    flags.DEFINE_list(
        "std", None, "Divided them after that. Both are read from config.json beside the model."
    )
    flags.DEFINE_string("labels", None, "Class names, one a line; labels.txt beside the model by default.")
    flags.DEFINE_string("data", "digits", "Image set to compare the answers on.")
    flags.DEFINE_string("data_dir", None, "Folder of that image set.")
    flags.DEFINE_integer("samples", 64, "Images to compare the answers on.", lower_bound=1)
    flags.mark_flags_as_required(["model", "output"])


def request_of_flags():
    """The `Request` of the command line."""
    values = {field.name: FLAGS[field.name].value for field in dataclasses.fields(Request)}
    for name in ("mean", "std"):
        if values[name] is not None:
            values[name] = commands.numbers(name, values[name])
    return Request(**values)


def run(request, suffix, convert, prepare=None):
    """Makes one artifact with its report and, where there are class names, its labels file.

    Args:
        request: `Request`.
        suffix: str, how the name of the output has to end.
        convert: function `(lowered model) -> (bytes, facts, answer, limits)`: the artifact, a dict for
            its report, a function from a batch `(batch, height, width, channels)` to its answers, and
            the limits of `check_parity`.
        prepare: function `(model, mean, std) -> model` that makes of the loaded model what the artifact
            has to answer as; a quantized model becomes a float one by default.

    Returns:
        dict, the report that was written.

    Raises:
        ValueError: the model, an option or the artifact is not as it should be.
        OSError: a file cannot be read or written.
    """
    require_backend("tensorflow")
    from hsvit_keras.artifacts.lowering import lower

    output = pathlib.Path(request.output)
    described_in = report_of(output)
    if output.suffix != suffix:
        raise InputError(f"the output's name has to end in {suffix}; received output={request.output}")
    _check_report_is_ours(described_in)
    with files.replacing(output) as artifact, files.replacing(described_in) as described:
        model = model_files.load_model(request.model)
        _check_classifier(model, request.model)
        mean, std = normalization_of(request, model)
        labels = request.labels or model_files.labels_beside(request.model)
        names = class_names(labels, model)
        model = prepare(model, mean, std) if prepare else as_float(model)
        inside = {"mean": mean, "std": std} if request.pixels else {}
        content, facts, answer, limits = convert(lower(model, request.batch, **inside))
        parity = compare(request, model, answer, mean, std)
        check_parity(parity, limits)
        facts["input"] |= {"pixels": request.pixels, "mean": mean, "std": std}
        report = {
            "artifact": output.name,
            "model": str(request.model),
            **facts,
            "labels": names,
            "parity": parity,
        }
        artifact.write_bytes(content)
        files.write_json(described, report)
    if labels:
        with files.replacing(output.with_suffix(".labels.txt")) as copy:
            shutil.copyfile(labels, copy)
    return report


def report_of(artifact):
    """Where the report of an artifact goes: `M.json` beside `M.tflite`, `M.onnx.json` beside `M.onnx`."""
    return artifact.with_suffix(".json" if artifact.suffix == ".tflite" else f"{artifact.suffix}.json")


def _check_report_is_ours(path):
    """Raises `ValueError` if the report would replace a file that is no report, such as a run's config."""
    if path.is_file():
        try:
            ours = "sha256" in json.loads(path.read_text())
        except ValueError:
            ours = False
        if not ours:
            raise InputError(f"the report would replace {path}, which is no report: choose another --output")


def _check_classifier(model, path):
    inputs, outputs = model.inputs, model.outputs
    if len(inputs) != 1 or len(outputs) != 1 or len(inputs[0].shape) != 4 or len(outputs[0].shape) != 2:
        raise InputError(
            f"{path} has to classify images, from (batch, height, width, channels) to (batch, classes); "
            f"its inputs are {[x.shape for x in inputs]}, its outputs {[y.shape for y in outputs]}"
        )
    if None in inputs[0].shape[1:]:
        raise InputError(f"{path} takes images of any size, {inputs[0].shape}; an artifact needs one size")


def normalization_of(request, model):
    """The mean and std of a request, or of the run beside its model."""
    mean, std = model_files.normalization_beside(request.model)
    mean = mean if request.mean is None else request.mean
    std = std if request.std is None else request.std
    model_files.check_normalization(mean, std, model.input_shape[-1])
    return mean, std


def as_float(model):
    """The model itself, or the float model of a quantized one."""
    from hsvit_keras.compression.quantization import is_quantized, remove_quantization

    return remove_quantization(model) if is_quantized(model) else model


def class_names(labels, model):
    """The names in a file, one for each class of the model; None without a file."""
    if labels is None:
        return None
    names = pathlib.Path(labels).read_text().splitlines()
    if len(names) != model.output_shape[-1]:
        raise InputError(f"{labels} names {len(names)} classes, the model has {model.output_shape[-1]}")
    return names


def compare(request, model, answer, mean, std):
    """How alike the Keras model and its artifact answer real images, and how right the artifact is."""
    from data_sets import load_dataset, sample_images

    dataset = load_dataset(request.data, "test", request.data_dir)
    batches = min(max(request.samples, request.batch), len(dataset)) // request.batch
    if not batches:
        raise InputError(
            f"--batch={request.batch} is more than the {len(dataset)} images of {request.data} to compare on"
        )
    shape = model.input_shape[1:]
    pictures, labels = sample_images(dataset, batches * request.batch, image_shape=shape, mean=0.0, std=1.0)
    normalized = ((pictures - np.asarray(mean)) / np.asarray(std)).astype("float32")
    given = 255 * pictures if request.pixels else normalized
    expected = _answers(in_float32(model), normalized)
    answers = np.concatenate([answer(images) for images in np.split(given, batches)])
    parity = latency_statistics.agreement(expected, answers)
    classified = answers.shape[-1] == len(dataset.class_names)
    return {
        "samples": parity.pop("images"),
        "data": request.data,
        "largest_answer": float(np.abs(expected).max()),
        "accuracy": float(np.mean(answers.argmax(axis=-1) == labels)) if classified else None,
        **parity,
    }


def _answers(model, images):
    """What Keras answers, many images at a time: one by one most of the time would be Python's."""
    size = model.input_shape[0] or _IMAGES_AT_A_TIME
    return np.concatenate(
        [
            np.asarray(model(images[start : start + size], training=False))
            for start in range(0, len(images), size)
        ]
    )


def in_float32(model):
    """The model itself, or a copy of a half-precision one: artifacts compute in float32."""
    from hsvit_keras.compression.rewriting import with_dtype

    if all(layer.compute_dtype in ("float32", None) for layer in model.layers if layer.weights):
        return model
    return with_dtype(model, "float32")


def check_parity(parity, limits):
    """Raises `ValueError` if an artifact answers differently from the model it was made from.

    Args:
        parity: dict with `samples`, `max_abs_diff`, `largest_answer`, `cosine` and `top1_agreement`.
        limits: dict with `max_abs_diff`, relative to the largest answer where that is above 1, or `cosine`.
    """
    scale = max(1.0, parity["largest_answer"])
    far = "max_abs_diff" in limits and not parity["max_abs_diff"] <= limits["max_abs_diff"] * scale
    askew = "cosine" in limits and not parity["cosine"] >= limits["cosine"]
    if far or askew:
        raise InputError(
            f"the artifact does not answer as Keras does: max_abs_diff {parity['max_abs_diff']:.3g}, "
            f"cosine {parity['cosine']:.6f}, same top-1 on {parity['top1_agreement']:.1%} of "
            f"{parity['samples']} images; limits {limits}. Nothing was written"
        )


def print_parity(report):
    """The line of a summary that tells how alike the answers are."""
    parity = report["parity"]
    print(f"  answers as Keras does on {parity['samples']} images of {parity['data']}: ", end="")
    print(f"max difference {parity['max_abs_diff']:.2g}, cosine {parity['cosine']:.6f}, ", end="")
    print(f"same top-1 {parity['top1_agreement']:.1%}")
