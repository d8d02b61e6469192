"""One tiny classifier (8 x 8 x 1, three classes) as a `.keras` file and as several `.tflite` files."""

import hashlib
import json
import warnings

import numpy as np
import pytest

PIXEL_MEAN, PIXEL_STD = 0.25, 0.5


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory):
    """Path of a folder with the files; needs TensorFlow as Keras' backend.

    model.keras     normalized floats, untrained
    float32.tflite  the same
    int8.tflite     int8 weights, activations, input and output
    pixels.tflite   takes 0..255, normalization folded in; pixels.json says so
    pool4.tflite    another graph: its 3 x 3 pool of stride 4 is not delegated
    wide.tflite     takes 8 x 9 images
    many.tflite     answers with four classes
    """
    import keras

    folder = tmp_path_factory.mktemp("tiny models")
    keras.utils.set_random_seed(3)
    model = _classifier(keras, (8, 8, 1), 3)
    save(model, folder / "model.keras")
    pool4 = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            keras.layers.Conv2D(4, 3, padding="same"),
            keras.layers.MaxPooling2D(3, 4, padding="same"),
            keras.layers.Flatten(),
            keras.layers.Dense(3),
        ]
    )

    def from_pixels(x):
        return model((x / 255.0 - PIXEL_MEAN) / PIXEL_STD)

    for name, function, image_shape, quantized in (
        ("float32", model, (8, 8, 1), False),
        ("int8", model, (8, 8, 1), True),
        ("pixels", from_pixels, (8, 8, 1), False),
        ("pool4", pool4, (8, 8, 1), False),
        ("wide", _classifier(keras, (8, 9, 1), 3), (8, 9, 1), False),
        ("many", _classifier(keras, (8, 8, 1), 4), (8, 8, 1), False),
    ):
        (folder / f"{name}.tflite").write_bytes(convert(function, (1, *image_shape), quantized))
    description = {"shape": [1, 8, 8, 1], "dtype": "float32", "pixels": True}
    description |= {"mean": [PIXEL_MEAN], "std": [PIXEL_STD]}
    describe(folder / "pixels.tflite", description)
    return folder


def describe(path, description, **changes):
    """Writes the part of a converter's report that tells of the input of the model in `path`."""
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_suffix(".json").write_text(json.dumps({"sha256": sha256, "input": description, **changes}))


def save(model, path):
    """Saves a Keras model."""
    with warnings.catch_warnings():  # TensorFlow's tensors do not know NumPy's `copy` yet
        warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)
        model.save(path)


def _classifier(keras, image_shape, num_classes):
    return keras.Sequential(
        [
            keras.Input(image_shape),
            keras.layers.Conv2D(4, 3, padding="same", activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(num_classes),
        ]
    )


def convert(function, shape, quantized):
    """The content of a `.tflite` file of a function from images of `shape` to logits."""
    import tensorflow as tf

    signature = [tf.TensorSpec(shape, "float32")]
    concrete = tf.function(lambda x: function(x), input_signature=signature).get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], tf.Module())
    if quantized:
        images = 2 * np.random.default_rng(0).random((32, *shape), dtype="float32") - 0.5
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image] for image in images)
        converter.inference_input_type = converter.inference_output_type = tf.int8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return converter.convert()
