"""One tiny classifier (8 x 8 x 1, three classes), which says nothing of itself, as files of every kind."""

import warnings

import numpy as np
import pytest

from hsvit_runtime import metadata
from hsvit_runtime.description import Description

BLACK, WHITE = -0.5, 1.5  # pixels in its input


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory):
    """Path of a folder with the files; needs TensorFlow as Keras' backend.

    model.keras           takes pixels from BLACK to WHITE, untrained
    float32.tflite        the same
    float32.onnx          the same, of any batch
    int8.tflite           int8 weights, activations, input and output
    pixels.tflite         takes pixels of 0 to 255, and says so
    probabilities.tflite  with a softmax, and says so
    pool4.tflite          another graph: its 3 x 3 pool of stride 4 is not delegated
    wide.tflite           takes 8 x 9 images
    many.tflite           gives four classes
    """
    import keras

    import hsvit_keras

    folder = tmp_path_factory.mktemp("tiny models")
    keras.utils.set_random_seed(3)
    model = _classifier(keras, (8, 8, 1), 3)
    save(model, folder / "model.keras")
    hsvit_keras.to_onnx(model, folder / "float32.onnx")
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
        return model(BLACK + x / 255.0 * (WHITE - BLACK))

    def to_probabilities(x):
        return keras.ops.softmax(model(x))

    for name, function, image_shape, description in (
        ("float32", model, (8, 8, 1), None),
        ("int8", model, (8, 8, 1), None),
        ("pixels", from_pixels, (8, 8, 1), Description(input_range=(0, 255))),
        ("probabilities", to_probabilities, (8, 8, 1), Description(probabilities=True)),
        ("pool4", pool4, (8, 8, 1), None),
        ("wide", _classifier(keras, (8, 9, 1), 3), (8, 9, 1), None),
        ("many", _classifier(keras, (8, 8, 1), 4), (8, 8, 1), None),
    ):
        content = convert(function, (1, *image_shape), quantized=name == "int8")
        if description:
            content = metadata.write(content, description, name=name)
        (folder / f"{name}.tflite").write_bytes(content)
    return folder


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
