"""Numbers that app and web page must compute, too: `data/phone_numbers.json`, which their tests read.

    python -m tests.export.phone_numbers    # writes the file anew

They are what Python computes; `test_phone_report.py` checks that the file is up to date.
"""

import base64
import io
import json
import pathlib
import tempfile

import numpy as np
from PIL import ExifTags, Image, ImageOps

from data_sets import images
from hsvit_keras.tasks import Classification
from hsvit_runtime.pixels import in_range
from hsvit_runtime.runnable import Tensor
from measuring import latency_statistics

FILE = pathlib.Path(__file__).parent / "data" / "phone_numbers.json"

# Inputs of models, in the fields of a bundle.
FLOATS = {"dtype": "float32", "scale": None, "zero_point": None}
INPUTS = (
    {**FLOATS, "range": [0, 255]},
    {**FLOATS, "range": [0, 1]},
    {**FLOATS, "range": [-1, 1]},
    {**FLOATS, "range": [-0.4242, 2.8215]},
    {"dtype": "int8", "scale": 1.0, "zero_point": -128, "range": [0, 255]},
    {"dtype": "int8", "scale": 0.0113, "zero_point": -53, "range": [-0.857, 2.0]},
    {"dtype": "uint8", "scale": 0.9981, "zero_point": 3, "range": [0, 255]},
    {"dtype": "uint8", "scale": None, "zero_point": None, "range": [0, 255]},
)

# Shapes (H, W, C) of pictures, and the shapes that models take.
RESIZED = (
    ((37, 61, 3), (8, 8, 3)),
    ((50, 40, 3), (16, 12, 3)),
    ((9, 7, 3), (16, 16, 1)),
    ((40, 90, 1), (11, 32, 1)),
    ((8, 8, 3), (8, 8, 3)),
)


def compute():
    """dict of inputs and of what is computed from them."""
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
    outputs = (expected + 0.3 * rng.normal(size=(12, 5))).astype("float32")
    agreement = Classification().compare({"logits": expected}, {"logits": outputs})
    del agreement["alike"]  # which the app does not compute
    return {"expected": expected.tolist(), "outputs": outputs.tolist(), "agreement": agreement}


def _prepared(given):
    """Pixels 0 to 255 as a model with this input takes them: integers, or the bits of floats."""
    tensor = Tensor("image", (1, 1, 256, 1), np.dtype(given["dtype"]), given["scale"], given["zero_point"])
    prepared = tensor.quantize(in_range(np.arange(256, dtype="uint8"), given["range"]))
    return (prepared.view("int32") if prepared.dtype.kind == "f" else prepared).tolist()


def _resized(shape, wanted):
    """A random picture, and the same picture resized as for training."""
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
