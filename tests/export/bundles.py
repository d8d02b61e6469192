"""Small models and their artifacts, to be put into bundles: a classifier, a detector, a model of clips."""

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


def make_detector(folder):
    """Writes model.keras, dynamic.tflite and best.tflite, which gives five boxes; it is not trained."""
    keras.utils.set_random_seed(0)
    image = keras.Input((32, 32, 1), name="image")
    pixels = keras.layers.Rescaling(1 / 127.5, -1, name="normalization")(image)
    features = keras.layers.Conv2D(16, 8, strides=8, activation="relu", name="features")(pixels)
    places = keras.layers.Reshape((16, 16), name="places")(features)
    wide, wider = (keras.initializers.RandomNormal(stddev=width, seed=1) for width in (3, 16))
    low = keras.initializers.Constant(-8)  # so that few scores are high
    logits = keras.layers.Dense(10, kernel_initializer=wider, bias_initializer=low, name="scores")(places)
    boxes = keras.layers.Dense(4, "sigmoid", kernel_initializer=wide, name="sides")(places)
    model = describe(
        keras.Model(image, {"logits": logits, "boxes": boxes}),
        task="detection",
        class_names=tuple("0123456789"),
        data_set="digits_detection",
        input_range=(0, 255),
    )
    model.save(folder / "model.keras")
    for name, detections in (("dynamic", None), ("best", 5)):
        hsvit_keras.to_tflite(
            model, folder / f"{name}.tflite", runtime=RUNTIME, detections=detections, allow_loss=True
        )
    return folder


def make_video_model(folder):
    """Writes model.keras and dynamic.tflite of a model of clips; it is not trained."""
    keras.utils.set_random_seed(0)
    clip = keras.Input((4, 12, 12, 1), name="clip")
    pixels = keras.layers.Rescaling(1 / 127.5, -1, name="normalization")(clip)
    hidden = keras.layers.Dense(16, "relu", name="hidden")(keras.layers.Flatten(name="flat")(pixels))
    model = describe(
        keras.Model(clip, keras.layers.Dense(6, name="scores")(hidden)),
        task="video_classification",
        class_names=("right", "left", "down", "up", "turning left", "turning right"),
        data_set="digits_video",
        input_range=(0, 255),
    )
    model.save(folder / "model.keras")
    hsvit_keras.to_tflite(model, folder / "dynamic.tflite", runtime=RUNTIME)
    return folder
