"""A small classifier of digits and its artifacts, to be put into bundles."""

import keras
import numpy as np

import hsvit_keras
from export import tflite
from hsvit_keras.artifacts import writing


def make_models(folder):
    """Writes model.keras, dynamic.tflite and int8.tflite for the app, newer.tflite for newer runtimes."""
    keras.utils.set_random_seed(0)
    image = keras.Input((8, 8, 1))
    features = keras.layers.Conv2D(4, 3, padding="same", activation="relu", name="features")(image)
    hidden = keras.layers.Dense(32, "relu", name="hidden")(keras.layers.Flatten(name="flat")(features))
    model = keras.Model(image, keras.layers.Dense(10, name="logits")(hidden))
    images = np.random.default_rng(0).random((64, 8, 8, 1), "float32")
    model.save(folder / "model.keras")
    hsvit_keras.calibrate(model, [images]).save(folder / "calibrated.keras")
    for name, source, preset, runtime in (
        ("dynamic", "model", "dynamic", "2.16"),
        ("int8", "calibrated", "int8", "2.16"),
        ("newer", "model", "dynamic", None),
    ):
        paths = {"model": str(folder / f"{source}.keras"), "output": str(folder / f"{name}.tflite")}
        tflite.export(writing.Request(**paths, pixels=True), preset, runtime)
    return folder
