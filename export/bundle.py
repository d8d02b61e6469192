"""Models, images and the right answers in one folder, for the Android app to measure and to check itself by.

    python -m export.bundle --original=best.keras --mobile=dynamic.tflite,int8.tflite --output=DIR

The original becomes the float32 `.tflite` of the trained model, and has to answer as Keras does; a mobile
artifact has to answer as LiteRT on this machine does. `bundle.json` follows `bundle.schema.json`.
"""

import contextlib
import dataclasses
import hashlib
import json
import pathlib
import shutil
import tempfile

import numpy as np
from absl import flags

from command_line import commands
from export import tflite
from hsvit_keras.artifacts import writing
from hsvit_keras.backends import require_backend
from hsvit_runtime import files, model_files, runners
from hsvit_runtime.errors import FileError, InputError, MissingFileError
from measuring import latency_statistics

FLAGS = flags.FLAGS

RUNTIME = "2.16"  # the app's: the last TensorFlow Lite that is complete without Google's repository
ORIGINAL = "original.tflite"
# Runtimes add in different orders, so answers differ; up to this share of the largest answer that is right.
_ROUNDING = 1e-4
_ACCURACY_IMAGES = 1000
_MOST_IMAGES = 1000  # a phone has all their answers in memory
_MOST_BYTES = 10**9  # an APK holds less than 2 GB


@dataclasses.dataclass(frozen=True)
class Request:
    """What goes into a bundle; see `define_flags`."""

    original: str
    mobile: list
    output: str
    data: str = "digits"
    data_dir: str | None = None
    images: int = 50
    name: str | None = None


def define_flags():
    flags.DEFINE_string("original", None, "The trained .keras file that the artifacts come from.")
    flags.DEFINE_list("mobile", None, "Its .tflite artifacts, separated by commas.")
    flags.DEFINE_string("output", None, "Folder to write; an older bundle there is replaced.")
    flags.DEFINE_string("data", "digits", "Image set whose test part the images are taken from.")
    flags.DEFINE_string("data_dir", None, "Folder of that image set.")
    flags.DEFINE_integer("images", 50, "How many images.", lower_bound=1, upper_bound=_MOST_IMAGES)
    flags.DEFINE_string("name", None, "How the app calls the bundle; 'MODEL on DATA' by default.")
    flags.mark_flags_as_required(["original", "mobile", "output"])


def main(_):
    bundle = write(Request(**{field.name: FLAGS[field.name].value for field in dataclasses.fields(Request)}))
    print(f"wrote {FLAGS.output}: {bundle['name']}, {len(bundle['images'])} images")
    for model in bundle["models"]:
        accuracy = "" if model["accuracy"] is None else f", accuracy {model['accuracy']:.2%}"
        limit = model["reference"]["max_abs_diff"]
        print(f"  {model['file']}: {model['bytes'] / 1e3:,.1f} kB{accuracy}, right within {limit:.2g}")


def write(request):
    """Writes a bundle.

    Args:
        request: `Request`.

    Returns:
        dict, the content of `bundle.json`.

    Raises:
        ValueError: a model does not fit the app's runtime, the other models or the images, or the bundle
            becomes too large.
        OSError: a file cannot be read or written.
    """
    require_backend("tensorflow")
    mobile = [pathlib.Path(path) for path in request.mobile]
    facts = [_facts(path) for path in mobile]
    _check_names(mobile)
    dataset = _dataset(request)
    with _replacing_folder(pathlib.Path(request.output)) as folder:
        original = folder / ORIGINAL
        report = _convert(request, original)
        shown = _Shown(request, dataset, report)
        models = [_describe(shown, original, report, _of_keras(request, shown))]
        for path, found in zip(mobile, facts, strict=True):
            models.append(_describe(shown, path, found))
            shutil.copyfile(path, folder / path.name)
        bundle = {
            "bundle_version": 1,
            "name": request.name or f"{pathlib.Path(request.original).stem} on {request.data}",
            "runtime": RUNTIME,
            "class_names": shown.class_names,
            "images": shown.save(folder),
            "pairs": [{"name": path.stem, "original": ORIGINAL, "mobile": path.name} for path in mobile],
            "models": models,
        }
        for of_converter in (*folder.glob("*.json"), *folder.glob("*.labels.txt")):
            of_converter.unlink()
        files.write_json(folder / "bundle.json", bundle)
        _check_size(folder)
    return bundle


def _facts(path):
    """What an artifact is; raises an error unless the app's runtime loads it."""
    if path.suffix != ".tflite":
        raise InputError(f"a mobile artifact has to end in .tflite; received {path}")
    if not path.is_file():
        raise MissingFileError(f"there is no model file {path}")
    try:
        return tflite.facts_of(path.read_bytes(), RUNTIME)
    except ValueError as error:
        raise InputError(f"{path}: {error}; convert it with --runtime={RUNTIME}") from error


def _check_names(paths):
    names = [ORIGINAL, *(path.name for path in paths)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"each file of a bundle needs a name of its own, {', '.join(twice)} comes twice")


@contextlib.contextmanager
def _replacing_folder(path):
    """Hands out an empty folder that becomes `path` if all goes well; only a bundle is replaced."""
    if not path.parent.is_dir():
        raise MissingFileError(f"cannot write {path}: there is no folder {path.parent}")
    if path.exists() and not (path / "bundle.json").is_file():
        raise FileError(f"cannot write {path}: it is there already, and is no bundle")
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as room:
        made = pathlib.Path(room, "new")
        made.mkdir()
        yield made
        if path.exists():
            path.rename(pathlib.Path(room, "old"))
        made.rename(path)


def _convert(request, output):
    """Makes the original's `.tflite` file; returns the converter's report."""
    asked = writing.Request(
        model=request.original,
        output=str(output),
        pixels=True,
        data=request.data,
        data_dir=request.data_dir,
    )
    return tflite.export(asked, "float32", RUNTIME)


def _dataset(request):
    from data_sets import load_dataset

    dataset = load_dataset(request.data, "test", request.data_dir)
    if request.images > len(dataset):
        raise InputError(f"images={request.images} are more than {request.data} has, which is {len(dataset)}")
    return dataset


class _Shown:
    """The images that models are shown: the bundle's first, then more for the accuracy.

    Attributes:
        pictures: float32 (N, 1, H, W, C) of 0..1.
        count: int, how many of them go into the bundle.
        labels: int array (N,), None where the model has other classes than the image set.
        class_names: list of str, empty where nobody tells.
        normalization: dict `{mean, std}` of the original.
    """

    def __init__(self, request, dataset, report):
        from data_sets import sample_images

        shape, classes = report["input"]["shape"][1:], report["output"]["shape"][1]
        number = min(len(dataset), max(request.images, _ACCURACY_IMAGES))
        pictures, labels = sample_images(dataset, number, image_shape=shape, mean=0.0, std=1.0)
        known = len(dataset.class_names) == classes
        self.pictures, self.count = pictures[:, np.newaxis], request.images
        self.labels = labels if known else None
        self.class_names = report["labels"] or (list(dataset.class_names) if known else [])
        self.normalization = {name: report["input"][name] for name in ("mean", "std")}

    def save(self, folder):
        """Writes the bundle's images as PNG; returns what `bundle.json` says of them."""
        from PIL import Image

        (folder / "images").mkdir()
        entries = []
        for number, picture in enumerate(self.pictures[: self.count]):
            pixels = np.rint(255 * picture[0]).astype("uint8")
            file = f"images/{number:03}.png"
            Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(folder / file)
            entries.append({"file": file, "label": None if self.labels is None else int(self.labels[number])})
        return entries


@dataclasses.dataclass(frozen=True)
class _Answers:
    """What is right: answers float32 (count, classes), and what computed them."""

    outputs: np.ndarray
    runtime: str


def _of_keras(request, shown):
    """The trained model's own answers, in float32."""
    import keras

    model = writing.in_float32(writing.as_float(model_files.load_model(request.original)))
    mean, std = (np.asarray(shown.normalization[name], "float32") for name in ("mean", "std"))
    answers = [np.asarray(model((picture - mean) / std)) for picture in shown.pictures[: shown.count]]
    return _Answers(np.concatenate(answers), f"Keras {keras.version()}")


def _describe(shown, path, facts, right=None):
    """What `bundle.json` says of a model.

    How far answers may be from what is right is measured: as far again as they are here, and as the plain
    kernels' are from the delegate's.
    """
    runner = runners.open_runner(path, **shown.normalization)
    prepared = _prepare(runner, path, shown)
    answers = np.concatenate([runner(image) for image in prepared])
    if not np.isfinite(answers).all():
        raise InputError(f"{path} answers some images with NaN or infinity")
    here = _Answers(answers[: shown.count], f"{runner.runtime['name']} {runner.runtime['version']}")
    right = right or here
    far = max(
        np.abs(here.outputs - right.outputs).max(), np.abs(answers - _plain_answers(path, prepared)).max()
    )
    limit = _ROUNDING * max(1.0, np.abs(answers).max()) + 2 * far
    content = path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    return {
        "file": path.name,
        "title": "float32 original" if path.name == ORIGINAL else path.stem.replace("_", " "),
        "preset": _preset(path, sha256),
        "bytes": len(content),
        "sha256": sha256,
        "input": {
            **_tensor(facts["input"]),
            "pixels": runner.pixels,
            "mean": np.atleast_1d(runner.mean).tolist(),
            "std": np.atleast_1d(runner.std).tolist(),
        },
        "output": _tensor(facts["output"]),
        "reference": {
            "outputs": [[float(f"{value:.9g}") for value in row] for row in right.outputs],
            "max_abs_diff": float(f"{limit:.3g}"),
            "runtime": right.runtime,
        },
        "accuracy": None if shown.labels is None else latency_statistics.accuracy(answers, shown.labels),
    }


def _prepare(runner, path, shown):
    """The images as the model takes them; raises `ValueError` if it is not for them."""
    takes, gives = runner.input_shape[1:], runner.num_classes
    shape = shown.pictures.shape[2:]
    if takes != shape:
        raise InputError(f"{path} takes images {takes}, but the original {shape}: nothing to compare")
    if shown.class_names and gives != len(shown.class_names):
        raise InputError(f"{path} has {gives} classes, but the original {len(shown.class_names)}")
    return [runner.prepare(picture) for picture in shown.pictures]


def _plain_answers(path, prepared):
    """What TFLite's own kernels answer, without the delegate."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(str(path), experimental_op_resolver_type=plain)
    interpreter.allocate_tensors()
    (given,), (made,) = interpreter.get_input_details(), interpreter.get_output_details()

    def answer(image):
        interpreter.set_tensor(given["index"], image)
        interpreter.invoke()
        return runners.dequantize(interpreter.get_tensor(made["index"]), *made["quantization"])

    return np.concatenate([answer(image) for image in prepared])


def _tensor(facts):
    """Shape, number format and grid."""
    return {name: facts[name] for name in ("shape", "dtype", "scale", "zero_point")}


def _preset(path, sha256):
    """The preset that the converter's report beside a file tells; None without one."""
    try:
        report = json.loads(writing.report_of(path).read_text())
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


if __name__ == "__main__":
    define_flags()
    commands.run(main)
