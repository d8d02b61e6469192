"""A bundle made by hand: all is right but for the models, which are no models."""

import hashlib
import json

import numpy as np
from PIL import Image


def handmade_bundle(folder):
    """Writes a bundle of two images of 2 x 3 pixels and two models with two classes; gives its folder."""
    (folder / "images").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for number in range(2):
        Image.fromarray(rng.integers(0, 256, (2, 3), "uint8")).save(folder / f"images/{number}.png")
    measure = {"name": "accuracy", "title": "Accuracy", "higher_is_better": True, "is_share": True}
    content = {
        "bundle_version": 3,
        "task": {"name": "classification", "metric": measure, "agreement": None},
        "detection": None,
        "name": "handmade",
        "runtime": "2.16",
        "class_names": ["a", "b"],
        "images": [{"file": f"images/{number}.png", "label": number} for number in range(2)],
        "pairs": [{"name": "int8", "original": "original.tflite", "mobile": "int8.tflite"}],
        "models": [_model(folder, name) for name in ("original", "int8")],
    }
    (folder / "bundle.json").write_text(json.dumps(content))
    return folder


def _model(folder, name):
    file, reference = folder / f"{name}.tflite", folder / f"{name}.bin"
    file.write_bytes(name.encode())
    reference.write_bytes(np.array([[0, 1], [1, 0]], "<f4").tobytes())
    plain = {"dtype": "float32", "scale": None, "zero_point": None}
    return {
        **_facts(file),
        "title": name,
        "preset": None,
        "input": {"name": "image", "shape": [1, 2, 3, 1], **plain, "range": [0, 255]},
        "outputs": [{"name": "scores", "shape": [1, 2], **plain}],
        "reference": {
            **_facts(reference),
            "outputs": [{"name": "scores", "offset": 0, "shape": [2], "max_abs_diff": 0.1}],
            "runtime": "by hand",
        },
        "metrics": {},
    }


def _facts(file):
    content = file.read_bytes()
    return {"file": file.name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
