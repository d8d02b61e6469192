"""What every converter does around its own step: load, lower, compare with Keras, then write.

Nothing is written unless the artifact answers as the Keras model does on real images.
"""

import dataclasses
import pathlib
import shutil

import numpy as np
from absl import flags

from export.measuring import statistics
from training import commands, files, saved_models

FLAGS = flags.FLAGS


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


def run(request, suffix, convert):
    """Makes one artifact with its report and, where there are class names, its labels file.

    Args:
        request: `Request`.
        suffix: str, how the name of the output has to end.
        convert: function `(lowered model) -> (bytes, facts, answer, limits)`: the artifact, a dict for
            its report, a function from a batch `(batch, height, width, channels)` to its answers, and
            the limits of `check_parity`.

    Returns:
        dict, the report that was written.

    Raises:
        ValueError: the model, an option or the artifact is not as it should be.
        OSError: a file cannot be read or written.
    """
    commands.require_backend("tensorflow")
    from export.lowering import lower

    output = pathlib.Path(request.output)
    if output.suffix != suffix:
        raise ValueError(f"the output's name has to end in {suffix}; received output={request.output}")
    with files.replacing(output) as artifact, files.replacing(output.with_suffix(".json")) as described:
        model = saved_models.load_model(request.model)
        _check_classifier(model, request.model)
        mean, std = _normalization(request, model)
        labels = request.labels or saved_models.labels_beside(request.model)
        names = _class_names(labels, model)
        inside = {"mean": mean, "std": std} if request.pixels else {}
        content, facts, answer, limits = convert(lower(model, request.batch, **inside))
        parity = _compare(request, model, answer, mean, std)
        check_parity(parity, limits)
        facts["input"] |= {"pixels": request.pixels, "mean": mean, "std": std}
        report = {"model": str(request.model), **facts, "labels": names, "parity": parity}
        artifact.write_bytes(content)
        files.write_json(described, report)
    if labels:
        with files.replacing(output.with_suffix(".labels.txt")) as copy:
            shutil.copyfile(labels, copy)
    return report


def _check_classifier(model, path):
    inputs, outputs = model.inputs, model.outputs
    if len(inputs) != 1 or len(outputs) != 1 or len(inputs[0].shape) != 4 or len(outputs[0].shape) != 2:
        raise ValueError(
            f"{path} has to classify images, from (batch, height, width, channels) to (batch, classes); "
            f"its inputs are {[x.shape for x in inputs]}, its outputs {[y.shape for y in outputs]}"
        )
    if None in inputs[0].shape[1:]:
        raise ValueError(f"{path} takes images of any size, {inputs[0].shape}; an artifact needs one size")


def _normalization(request, model):
    mean, std = saved_models.normalization_beside(request.model)
    mean = mean if request.mean is None else request.mean
    std = std if request.std is None else request.std
    saved_models.check_normalization(mean, std, model.input_shape[-1])
    return mean, std


def _class_names(labels, model):
    if labels is None:
        return None
    names = pathlib.Path(labels).read_text().splitlines()
    if len(names) != model.output_shape[-1]:
        raise ValueError(f"{labels} names {len(names)} classes, the model has {model.output_shape[-1]}")
    return names


def _compare(request, model, answer, mean, std):
    """How alike the Keras model and its artifact answer real images."""
    from training.data import load_dataset, sample_images

    batches = -(-request.samples // request.batch)
    dataset = load_dataset(request.data, "test", request.data_dir)
    shape = model.input_shape[1:]
    pictures, _ = sample_images(dataset, batches * request.batch, image_shape=shape, mean=0.0, std=1.0)
    normalized = ((pictures - np.asarray(mean)) / np.asarray(std)).astype("float32")
    given = 255 * pictures if request.pixels else normalized
    expected = [
        np.asarray(model(images, training=False), "float32") for images in np.split(normalized, batches)
    ]
    answers = [answer(images) for images in np.split(given, batches)]
    parity = statistics.agreement(np.concatenate(expected), np.concatenate(answers))
    return {
        "samples": parity.pop("images"),
        "data": request.data,
        "largest_answer": float(np.abs(expected).max()),
        **parity,
    }


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
        raise ValueError(
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
