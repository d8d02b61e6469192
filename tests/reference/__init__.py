"""The authors' numbers: small models with weights by formula, their input and what they answer."""

import json
import pathlib
import zlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent


def load(name):
    """One fixture, or `param_counts`."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def weights(fixture):
    """The state dict of a fixture, filled by its rule."""
    fill, tensors = fixture["fill"], {}
    for name, shape in fixture["params"]:
        seed = zlib.crc32(name.encode()) % 10007
        wave = np.sin(0.7 * np.arange(int(np.prod(shape))) + 0.013 * seed)
        if name in fill["norm_weight_keys"]:
            wave = 1 + 0.1 * wave
        elif name.endswith("running_var"):
            wave = 1 + 0.3 * (1 + wave)
        elif name.endswith("running_mean"):
            wave = 0.1 * wave
        else:
            scale = "projection_scale" if name.endswith("projection_matrix") else "scale"
            wave = fill[scale] * wave
        tensors[name] = wave.reshape(shape).astype("float32")
    return tensors


def images(fixture):
    """The input of a fixture, `(2, height, width, channels)`, of clips `(2, frames, ...)`."""
    shape = fixture["input_shape"]
    wave = np.sin(0.05 * np.arange(int(np.prod(shape)))).reshape(shape)
    return np.moveaxis(wave.astype("float32"), 1, -1)
