"""A small classifier of digits and its artifacts, to be put into bundles."""

import keras
import numpy as np

import hsvit_keras
from hsvit_keras.layers.model_description import describe

RUNTIME = "2.16"  # the app's


def make_models(folder):
    """Writes model.keras, dynamic.tflite and int8.tflite for the app, newer.tflite for newer runtimes."""
    keras.utils.set_random_seed(0)
    image = keras.Input((8, 8, 1), name="image")
    pixels = keras.layers.Rescaling(1 / 127.5, -1, name="normalization")(image)
    features = keras.layers.Conv2D(4, 3, padding="same", activation="relu", name="features")(pixels)
    hidden = keras.layers.Dense(32, "relu", name="hidden")(keras.layers.Flatten(name="flat")(features))
    model = describe(
        keras.Model(image, keras.layers.Dense(10, name="scores")(hidden)),
        task="classification",
        class_names=tuple("0123456789"),
        data_set="digits",
        input_range=(0, 255),
    )
    model.save(folder / "model.keras")
    calibration = [np.random.default_rng(0).integers(0, 256, (64, 8, 8, 1)).astype("float32")]
    hsvit_keras.to_tflite(model, folder / "dynamic.tflite", runtime=RUNTIME)
    hsvit_keras.to_tflite(
        model, folder / "int8.tflite", preset="int8", calibration=calibration, runtime=RUNTIME
    )
    hsvit_keras.to_tflite(model, folder / "newer.tflite")
    return folder
