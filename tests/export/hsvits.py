"""Small HSViTs that have seen digits, and requests to convert them in parts."""

import functools

import keras

import hsvit_keras
from data_sets import load_dataset, sample_images
from export.sharding.requests import Request
from hsvit_keras.artifacts import Samples

SIZE = (16, 16, 1)
CLASS_NAMES = tuple("0123456789")


ARGUMENTS = {
    "input_shape": SIZE,
    "filters": (3, 6),
    "attention_groups": 3,
    "depth": 1,
    "hidden_dim": 8,
    "num_heads": 2,
    "mean": 0.3,
    "std": 0.35,
    "class_names": CLASS_NAMES,
    "data_set": "digits",
}


@functools.cache
def images(count):
    """Test digits, float32 (count, 16, 16, 1) of 0 to 255."""
    return sample_images(load_dataset("digits", "test"), count, image_shape=SIZE)[0]


@functools.cache
def small(stem="shared", groups=3):
    """A `keras.Model` of some groups whose batch normalizations have seen digits."""
    keras.utils.set_random_seed(0)
    sizes = {"filters": (groups, 2 * groups), "attention_groups": groups}
    model = hsvit_keras.create_model("hsvit_tiny", **{**ARGUMENTS, **sizes, "stem": stem})
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.5
    for _ in range(5):
        model(images(64), training=True)
    return model


def request(model, preset="float32", samples=8, **settings):
    """A `Request`; int8 ranges are those of 64 digits."""
    calibration = [images(64)] if preset == "int8" else None
    return Request(
        model,
        Samples(images(samples), data="digits"),
        preset=preset,
        **{"calibration": calibration, **settings},
    )
