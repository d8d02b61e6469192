"""Numbers that the Android app must find too: `data/phone_numbers.json`, which its tests read.

    python -m tests.export.phone_numbers    # writes the file anew

They are what `measuring` computes here; `test_phone_report.py` sees that the file still says so.
"""

import base64
import io
import json
import pathlib
import tempfile

import numpy as np
from PIL import ExifTags, Image, ImageOps

from data_sets import images, pipeline
from hsvit_runtime import runners
from measuring import latency_statistics

FILE = pathlib.Path(__file__).parent / "data" / "phone_numbers.json"

# Inputs of models, in the fields of a bundle. Channels of 3 mean that each has its own mean and std.
FLOATS = {"dtype": "float32", "scale": None, "zero_point": None}
INPUTS = (
    {**FLOATS, "pixels": False, "mean": [0.0], "std": [1.0]},
    {**FLOATS, "pixels": True, "mean": [0.1307], "std": [0.3081]},
    {**FLOATS, "pixels": False, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]},
    {"dtype": "int8", "pixels": True, "mean": [0.0], "std": [1.0], "scale": 1.0, "zero_point": -128},
    {"dtype": "int8", "pixels": False, "mean": [0.3], "std": [0.35], "scale": 0.0113, "zero_point": -53},
    {"dtype": "uint8", "pixels": True, "mean": [0.0], "std": [1.0], "scale": 0.9981, "zero_point": 3},
    {"dtype": "uint8", "pixels": True, "mean": [0.0], "std": [1.0], "scale": None, "zero_point": None},
)


# Pictures (H, W, C) and the sizes (H, W, C) that models want them in.
RESIZED = (
    ((37, 61, 3), (8, 8, 3)),
    ((50, 40, 3), (16, 12, 3)),
    ((9, 7, 3), (16, 16, 1)),
    ((40, 90, 1), (11, 32, 1)),
    ((8, 8, 3), (8, 8, 3)),
)


def compute():
    """dict of samples and what is made of them."""
    return {
        "statistics": [_statistics(*shape) for shape in ((1, 7), (2, 1), (5, 30), (20, 10))],
        "agreement": _agreement(),
        "preparation": [{"input": given, "prepared": _prepared(given)} for given in INPUTS],
        "resizing": [_resized(*shapes) for shapes in RESIZED],
        "photos": [_photo(orientation) for orientation in range(1, 9)],
    }


def _statistics(blocks, runs):
    rng = np.random.default_rng(blocks)
    drift = rng.lognormal(0, 0.1, (blocks, 1))
    original, mobile = (
        np.round(scale * drift * rng.lognormal(0, 0.05, (blocks, runs)), 5).tolist() for scale in (2, 1)
    )
    return {
        "original": original,
        "mobile": mobile,
        "summary": latency_statistics.summarize(np.ravel(original)),
        "ratio": latency_statistics.ratio_of_medians(original, mobile),
    }


def _agreement():
    rng = np.random.default_rng(0)
    expected = rng.normal(size=(12, 5)).astype("float32")
    answers = (expected + 0.3 * rng.normal(size=(12, 5))).astype("float32")
    return {
        "expected": expected.tolist(),
        "answers": answers.tolist(),
        "agreement": latency_statistics.agreement(expected, answers),
    }


def _prepared(given):
    """What a model of this input is handed for all brightnesses 0..255: integers, or the bits of floats."""
    channels = len(given["mean"])
    runner = object.__new__(runners.TFLiteRunner)  # without a file
    runners.Runner.__init__(runner, "", given["mean"], given["std"], (1, 1, 256, channels), (1, 2))
    runner.pixels, runner.input_dtype = given["pixels"], given["dtype"]
    runner._input = {"quantization": (given["scale"] or 0.0, given["zero_point"] or 0)}
    pixels = np.repeat(np.arange(256, dtype="uint8"), channels).reshape(1, 1, 256, channels)
    prepared = runner.prepare(pipeline._normalizer(0.0, 1.0, channels)(pixels))
    return (prepared.view("int32") if prepared.dtype.kind == "f" else prepared).ravel().tolist()


def _resized(shape, wanted):
    """A random picture, and as training would show it."""
    rng = np.random.default_rng(shape)
    coarse = rng.integers(0, 256, (-(-shape[0] // 5), -(-shape[1] // 5), shape[2]))
    pixels = np.kron(coarse, np.ones((5, 5, 1), int))[: shape[0], : shape[1]].astype("uint8")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "picture.png"
        Image.fromarray(pixels.squeeze(-1) if shape[2] == 1 else pixels).save(path)
        resized = images.resized(images.ImageFiles([path]), 0, wanted)
        png = path.read_bytes()
    return {
        **{"shape": shape, "pixels": pixels.ravel().tolist(), "png": base64.b64encode(png).decode()},
        **{"wanted": wanted, "resized": resized.ravel().tolist()},
    }


def _photo(orientation):
    """A JPEG of four colours that lies on its side, and its upright size and corners."""
    colours = np.array([[[200, 40, 40], [40, 200, 40]], [[40, 40, 200], [200, 200, 40]]], "uint8")
    photo = Image.fromarray(np.kron(colours, np.ones((16, 24, 1), "uint8")))
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    stream = io.BytesIO()
    photo.save(stream, "JPEG", quality=95, exif=exif)
    upright = np.asarray(ImageOps.exif_transpose(Image.open(stream)).convert("RGB"))
    return {
        "jpeg": base64.b64encode(stream.getvalue()).decode(),
        "size": upright.shape[:2],
        "corners": upright[[4, 4, -4, -4], [4, -4, 4, -4]].tolist(),
    }


def encode():
    return json.dumps(compute(), allow_nan=False) + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(encode())
