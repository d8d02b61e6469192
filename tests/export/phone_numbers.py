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
from hsvit_keras.tasks import Classification, DenseDetection, Detection
from hsvit_keras.tasks.detections import detections_of
from hsvit_keras.tasks.kept_detections import KEPT
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

_NOT_COMPUTED = ("alike", "largest_output")  # by the app


def compute():
    """dict of inputs and of what is computed from them."""
    return {
        "statistics": [_statistics(*shape) for shape in ((1, 7), (2, 1), (5, 30), (20, 10))],
        "agreement": _agreement(),
        "detections": [
            _detections(Detection(), _queries(30, 3)),
            _detections(DenseDetection(), _queries(60, 2, crowded=True)),
            _detections(Detection(), _best_boxes(_queries(25, 3), 12)),
        ],
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
    for name in _NOT_COMPUTED:
        del agreement[name]
    return {"expected": expected.tolist(), "outputs": outputs.tolist(), "agreement": agreement}


def _queries(queries, classes, crowded=False):
    """Outputs of a detector for 5 images, and of another one that says nearly the same."""
    rng = np.random.default_rng(queries)
    shape = 5, queries, classes
    logits = rng.normal(-1.5, 2, shape)
    boxes = rng.uniform([0.3, 0.3, 0.1, 0.1], [0.7, 0.7, 0.5, 0.5], (*shape[:2], 4))
    if crowded:  # each object is found by three queries
        boxes[:] = np.repeat(boxes[:, ::3], 3, 1) + rng.normal(0, 0.01, boxes.shape)
    pairs = [(logits, boxes)]
    pairs.append((logits + rng.normal(0, 0.2, shape), boxes + rng.normal(0, 0.012, boxes.shape)))
    return [{"boxes": b.astype("float32"), "logits": a.astype("float32")} for a, b in pairs]


def _best_boxes(pair, count):
    """The same outputs as a file gives them that chooses its best boxes itself."""
    made = []
    for outputs in pair:
        found = detections_of(outputs)
        left, top, right, bottom = np.moveaxis(found.boxes[:, :count], -1, 0)
        made.append(
            {
                "category": found.classes[:, :count].astype("float32"),
                "location": np.stack([top, left, bottom, right], -1),
                "number of detections": np.full(len(left), count, "float32"),
                "score": found.scores[:, :count],
            }
        )
    return made


def _detections(task, pair):
    """Outputs of two detectors, the boxes that the first keeps, and the agreement of both."""
    expected, outputs = pair
    agreement = task.compare(expected, outputs)
    for name in _NOT_COMPUTED:
        del agreement[name]
    found = task.detections(expected)
    kept = found.scores >= KEPT
    return {
        "rule": task.detection_rule(list(expected)),
        "outputs": [{"name": name, "shape": [1, *array.shape[1:]]} for name, array in expected.items()],
        "rows": [_rows(each) for each in pair],
        "kept": [
            [
                {"class": int(one), "score": float(score), "box": box.tolist()}
                for one, score, box in zip(
                    *(part[i][on] for part in (found.classes, found.scores, found.boxes)), strict=True
                )
            ]
            for i, on in enumerate(kept)
        ],
        "agreement": agreement,
    }


def _rows(outputs):
    """As a bundle's file of correct outputs has them."""
    return np.concatenate([np.reshape(array, (len(array), -1)) for array in outputs.values()], 1).tolist()


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
