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
    """The input of a fixture, `(2, height, width, channels)`."""
    shape = fixture["input_shape"]
    wave = np.sin(0.05 * np.arange(int(np.prod(shape)))).reshape(shape)
    return wave.astype("float32").transpose(0, 2, 3, 1)


def inputs(fixture):
    """The inputs of a fixture with several, dict from name to array; maps are channels last."""
    tensors = {}
    for name, shape in fixture["input_shape"].items():
        phase = 0.013 * (zlib.crc32(name.encode()) % 10007)
        places = np.arange(int(np.prod(shape)))
        if name == "reference_points":
            wave = np.sin(0.9 * places + phase).reshape(shape)
            values = 0.5 + 0.55 * wave
            values[..., 2:] = 0.3 + 0.2 * wave[..., 2:]
        else:
            values = np.sin(0.05 * places + phase).reshape(shape)
        tensors[name] = values.astype("float32")
        if len(shape) == 4 and name != "reference_points":
            tensors[name] = tensors[name].transpose(0, 2, 3, 1)
    return tensors
