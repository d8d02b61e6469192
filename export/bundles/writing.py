"""Writes a bundle: models, images and the correct outputs in one folder, for the Android app to measure.

An original becomes a float32 `.tflite` whose correct outputs are Keras'; those of a mobile artifact are
LiteRT's on this machine. A bundle may hold several originals of one task, each with its own artifacts.
"""

import dataclasses
import hashlib
import json
import pathlib
import shutil

import keras
import numpy as np

from command_line import model_data
from data_sets import load_dataset, sample_images
from data_sets.crops import crop_of
from hsvit_keras.artifacts.keras_model import predict
from hsvit_keras.artifacts.model_outputs import activation_of, gives_probabilities, loss_of
from hsvit_keras.artifacts.writing import (
    Samples,
    as_float,
    in_float32,
    report_of,
    tflite_facts,
    to_tflite,
)
from hsvit_keras.backends import require_backend
from hsvit_keras.compression.graph import functional
from hsvit_keras.compression.model_inputs import input_name
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.model_files import load_model
from hsvit_keras.tasks import Classification, task_of
from hsvit_runtime import files
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.pixels import in_range
from hsvit_runtime.tflite_model import TFLiteModel
from measuring.benchmark_report import describe_task

RUNTIME = "2.16"  # the app's: the last TensorFlow Lite that is complete without Google's repository
ORIGINAL = "original.tflite"
# Runtimes add in different orders, so outputs differ; up to this share of the largest output that is correct.
_ROUNDING = 1e-4
_METRIC_SAMPLES = 1000
_MOST_BYTES = 10**9  # an APK holds less than 2 GB


@dataclasses.dataclass(frozen=True)
class Original:
    """A trained model and its artifacts.

    Attributes:
        path: path of the trained `.keras` file that the artifacts come from.
        mobile: list of paths of its `.tflite` artifacts.
        name: str, which tells it from the other originals of a bundle; None where it is the only one.
    """

    path: str
    mobile: list
    name: str | None = None

    @property
    def file(self):
        """The file that it becomes in the bundle."""
        return f"{self.name}_{ORIGINAL}" if self.name else ORIGINAL

    @property
    def title(self):
        """What the app calls it."""
        return f"{self.name.replace('_', ' ')} float32 original" if self.name else "float32 original"


@dataclasses.dataclass(frozen=True)
class Request:
    """What goes into a bundle.

    Attributes:
        originals: list of `Original`, which take the same images and give outputs of one shape.
        output: path of the folder to write.
        data: str, the data set whose test part the images are taken from; the first model's own by default.
        data_dir: folder of that data set, or None.
        images: int, how many.
        name: str, how the app calls the bundle; "MODEL on DATA" by default.
        input_range: (low, high) of pixels, for models that do not say; None for those that do.
    """

    originals: list
    output: str
    data: str | None = None
    data_dir: str | None = None
    images: int = 50
    name: str | None = None
    input_range: object = None


def write(request):
    """Writes a bundle.

    Args:
        request: `Request`.

    Returns:
        dict, the content of `bundle.json`.

    Raises:
        InputError: a model does not fit the app's runtime, the other models or the images, or the bundle
            becomes too large.
        OSError: a file cannot be read or written.
    """
    require_backend("tensorflow")
    for original in request.originals:
        for path in original.mobile:
            _check_artifact(pathlib.Path(path))
    _check_names(request.originals)
    images, models = None, []
    with files.replacing_folder(request.output, "bundle.json") as folder:
        for original in request.originals:
            loaded = load_model(original.path)
            model = in_float32(as_float(functional(loaded)))
            images = images or _Images(request, model, loss_of(loaded))
            models += _add(original, model, images, folder)
        first = request.originals[0]
        bundle = {
            "bundle_version": 2,
            "task": describe_task(images.task),
            "name": request.name or f"{pathlib.Path(first.path).stem} on {images.data_set}",
            "runtime": RUNTIME,
            "class_names": list(images.class_names),
            "images": images.save(folder),
            "pairs": [
                {
                    "name": pathlib.Path(path).stem,
                    "original": original.file,
                    "mobile": pathlib.Path(path).name,
                }
                for original in request.originals
                for path in original.mobile
            ],
            "models": models,
        }
        files.write_json(folder / "bundle.json", bundle)
        _check_size(folder)
    return bundle


def _add(original, model, images, folder):
    """Puts an original and its artifacts into the folder of a bundle.

    Args:
        original: `Original`.
        model: `keras.Model`, it as a float model.
        images: `_Images`.
        folder: path.

    Returns:
        list of what `bundle.json` says of each.
    """
    path = folder / original.file
    samples = Samples(images.inputs_for(description_of(model))[:64], data=images.data_set)
    to_tflite(model, path, preset="float32", samples=samples, runtime=RUNTIME)
    described = [_describe(images, path, original.title, _of_keras(images, model, path))]
    report_of(path).unlink()
    for mobile in map(pathlib.Path, original.mobile):
        described.append(_describe(images, mobile, mobile.stem.replace("_", " ")))
        shutil.copyfile(mobile, folder / mobile.name)
    return described


def _check_artifact(path):
    """Raises an error unless the app's runtime loads the file."""
    if path.suffix != ".tflite":
        raise InputError(f"a mobile artifact has to end in .tflite; received {path}")
    if not path.is_file():
        raise MissingFileError(f"there is no model file {path}")
    shapes = [tensor.shape for tensor in TFLiteModel(path).inputs]
    if any(None in shape[1:] for shape in shapes):
        raise InputError(f"{path} takes inputs of any size, {shapes}; the app takes images of one size")
    try:
        tflite_facts(path.read_bytes(), RUNTIME)
    except InputError as error:
        raise InputError(f"{path}: {error}; convert it with --runtime={RUNTIME}") from error


def _check_names(originals):
    names = [original.file for original in originals]
    names += [pathlib.Path(path).name for original in originals for path in original.mobile]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"each file of a bundle needs a name of its own, {', '.join(twice)} comes twice")


class _Images:
    """The images that models are run on: first those of the bundle, then more for the metrics.

    Attributes:
        pixels: float32 array (N, height, width, channels), or of clips (N, frames, height, width, channels),
            of 0 to 255.
        count: int, how many of them go into the bundle.
        labels: array (N, ...), None where the model has other classes than the data set.
        class_names: tuple of str, empty where nobody says.
        task: the model's `Task`.
        data_set: str.
        output_shape: tuple, an output of the original without its batch.
    """

    def __init__(self, request, model, loss):
        description = description_of(model)
        shapes = [tuple(tensor.shape) for tensor in model.outputs]
        self.task = task_of(description, shapes, activation_of(model), loss)
        self.output_shape = shapes[0][1:]
        self.data_set = model_data.data_set_of(description, request.data)
        dataset = load_dataset(self.data_set, "test", request.data_dir)
        if request.images > len(dataset):
            raise InputError(
                f"images={request.images} are more than {self.data_set} has, which is {len(dataset)}"
            )
        self._given_range = request.input_range
        self.count = request.images
        count = min(max(request.images, _METRIC_SAMPLES), len(dataset))
        shape = model.inputs[0].shape[1:]
        self.pixels, labels = sample_images(
            dataset, count, image_shape=shape, crop=crop_of(description.resizing)
        )
        fit = dataset.labels_fit(description.class_names, model.outputs[0].shape[-1])
        self.labels = labels if fit else None
        self.class_names = description.class_names or (dataset.class_names if fit else ())

    def range_for(self, description):
        """The values of black and white in the input of a model: what it says, else what the user gave."""
        given = self._given_range if description.input_range is None else None
        return model_data.input_range_of(description, given)

    def inputs_for(self, description):
        """All images as a Keras model takes them."""
        return in_range(self.pixels, self.range_for(description))

    def range_for_file(self, path, model):
        """The values of black and white in the input of the `TFLiteModel` of a file."""
        try:
            return model_data.input_range_of_file(model, self._given_range)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    def save(self, folder):
        """Writes the bundle's images as PNG; returns what `bundle.json` says of them.

        The frames of a clip stand below each other in one high image, which has the clip's bytes in order.
        """
        from PIL import Image

        (folder / "images").mkdir()
        has_classes = isinstance(self.task, Classification) and self.labels is not None
        entries = []
        for number, image in enumerate(self.pixels[: self.count]):
            pixels = np.rint(image).astype("uint8").reshape(-1, *image.shape[-2:])
            file = f"images/{number:03}.png"
            Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(folder / file)
            entries.append({"file": file, "label": int(self.labels[number]) if has_classes else None})
        return entries


@dataclasses.dataclass(frozen=True)
class _Correct:
    """Correct outputs, a float32 array (count, ...), and what computed them."""

    outputs: np.ndarray
    runtime: str


def _of_keras(images, model, original):
    """The trained model's own outputs, with the softmax that the artifact has."""
    inputs = images.inputs_for(description_of(model))[: images.count]
    (outputs,) = predict(model, {input_name(model.inputs[0]): inputs}).values()
    if TFLiteModel(original).description.probabilities and not gives_probabilities(activation_of(model)):
        outputs = np.asarray(keras.ops.softmax(outputs))
    return _Correct(outputs, f"Keras {keras.version()}")


def _describe(images, path, title, correct=None):
    """What `bundle.json` says of a model, which the app calls by its title.

    How far outputs may be from the correct ones is measured: twice as far as they are here, or as the outputs
    of plain kernels are from the delegate's.
    """
    model, plain = TFLiteModel(path), TFLiteModel(path, delegate=False)
    _check_fits(path, model, images)
    limits = images.range_for_file(path, model)
    inputs = in_range(images.pixels, limits)
    outputs, plain_outputs = model.predict_only(inputs), plain.predict_only(inputs)
    if not np.isfinite(outputs).all():
        raise InputError(f"{path} gives NaN or infinity for some images")
    here = _Correct(outputs[: images.count], f"{model.runtime['name']} {model.runtime['version']}")
    correct = correct or here
    difference = max(np.abs(here.outputs - correct.outputs).max(), np.abs(outputs - plain_outputs).max())
    limit = _ROUNDING * max(1.0, np.abs(outputs).max()) + 2 * difference
    content = path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    evaluated = {} if images.labels is None else images.task.evaluate({"outputs": outputs}, images.labels)
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
        "output": model.outputs[0].to_json(),
        "reference": {
            "outputs": [[float(f"{value:.9g}") for value in np.ravel(row)] for row in correct.outputs],
            "max_abs_diff": float(f"{limit:.3g}"),
            "runtime": correct.runtime,
        },
        "metrics": evaluated,
    }


def _check_fits(path, model, images):
    """Raises `InputError` if a model is not for these images, or not for this task."""
    inputs, shape = [tensor.shape for tensor in model.inputs], images.pixels.shape[1:]
    if len(inputs) != 1 or inputs[0] != (1, *shape):
        raise InputError(f"{path} takes {inputs}, but the original images {shape}: nothing to compare")
    shapes = [tensor.shape for tensor in model.outputs]
    if len(shapes) != 1 or not 2 <= len(shapes[0]) <= 4:
        raise InputError(f"the app shows models with one output of 2 to 4 axes; {path} gives {shapes}")
    if images.class_names and shapes[0][-1] != len(images.class_names):
        raise InputError(f"{path} has {shapes[0][-1]} classes, but the original {len(images.class_names)}")
    if shapes[0][1:] != images.output_shape:
        raise InputError(f"{path} gives {shapes[0][1:]}, but the original {images.output_shape}")


def _preset(path, sha256):
    """The preset in the converter's report beside a file; None without one."""
    try:
        report = json.loads(report_of(path).read_text())
    except (OSError, ValueError):
        return None
    return report.get("preset") if report.get("sha256") == sha256 else None


def _check_size(folder):
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    if size > _MOST_BYTES:
        raise InputError(
            f"the bundle has {size / 1e6:,.0f} MB and an APK holds {_MOST_BYTES / 1e6:,.0f}: "
            "leave out models or images"
        )
