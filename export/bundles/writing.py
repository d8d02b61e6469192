"""Writes a bundle: models, images and the correct outputs in one folder, for the Android app to measure.

An original becomes a float32 `.tflite` whose correct outputs are Keras'; those of a mobile artifact are
LiteRT's on this machine. A bundle may hold several originals of one task, each with its own artifacts.
"""

import dataclasses
import pathlib
import shutil

from export.bundles import describing
from export.bundles.images import Images
from export.bundles.reading import VERSION
from hsvit_keras.artifacts.model_outputs import loss_of
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
from hsvit_keras.layers.detection_output import with_detections
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.model_files import load_model
from hsvit_keras.tasks.detections import BEST
from hsvit_runtime import files
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.tflite_model import TFLiteModel
from measuring.benchmark_report import describe_task

RUNTIME = "2.16"  # the app's: the last TensorFlow Lite that is complete without Google's repository
ORIGINAL = "original.tflite"
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
        cut: bool. Whether the models are added as cut into kinds of operations, too, which the app times.
    """

    originals: list
    output: str
    data: str | None = None
    data_dir: str | None = None
    images: int = 50
    name: str | None = None
    input_range: object = None
    cut: bool = False


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
            images = images or Images(request, model, loss_of(loaded))
            models += _add(original, model, images, folder, models[0] if models else None)
        first = request.originals[0]
        bundle = {
            "bundle_version": VERSION,
            "task": describe_task(images.task),
            "detection": images.task.detection_rule([tensor["name"] for tensor in models[0]["outputs"]]),
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
        if request.cut:
            for described in models:
                described["cuts"] = describing.cuts(folder, folder / described["file"])
        files.write_json(folder / "bundle.json", bundle)
        _check_size(folder)
    return bundle


def _add(original, model, images, folder, first):
    """Puts an original and its artifacts into the folder of a bundle.

    Args:
        original: `Original`.
        model: `keras.Model`, it as a float model.
        images: `Images`.
        folder: path.
        first: dict, what `bundle.json` says of the bundle's first model; None where that is this original.

    Returns:
        list of what `bundle.json` says of each.
    """
    path = folder / original.file
    samples = Samples(images.inputs_for(description_of(model))[:64], data=images.data_set)
    best = _best_detections(original.mobile)
    to_tflite(model, path, preset="float32", samples=samples, runtime=RUNTIME, detections=best)
    correct = describing.of_keras(images, with_detections(model, best) if best else model, path)
    described = [describing.describe(folder, images, path, original.title, first=first, correct=correct)]
    report_of(path).unlink()
    for mobile in map(pathlib.Path, original.mobile):
        title = mobile.stem.replace("_", " ")
        described.append(describing.describe(folder, images, mobile, title, first=first or described[0]))
        shutil.copyfile(mobile, folder / mobile.name)
    return described


def _best_detections(mobile):
    """How many of its best detections the first artifact gives; None where it gives other outputs."""
    shapes = {tensor.name: tensor.shape for tensor in TFLiteModel(mobile[0]).outputs}
    return shapes["score"][1] if shapes.keys() == set(BEST) else None


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


def _check_size(folder):
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    if size > _MOST_BYTES:
        raise InputError(
            f"the bundle has {size / 1e6:,.0f} MB and an APK holds {_MOST_BYTES / 1e6:,.0f}: "
            "leave out models or images"
        )
