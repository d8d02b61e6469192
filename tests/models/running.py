"""Images for a model, and its outputs."""

import contextlib

import keras
import numpy as np

ON_JAX = keras.backend.backend() == "jax"


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


def images(model, count=2, seed=0):
    """Random images for a model, `(count, height, width, channels)`."""
    return np.random.default_rng(seed).normal(size=(count, *model.input_shape[1:])).astype("float32")


@contextlib.contextmanager
def without_tracing():
    """Runs TensorFlow eagerly, since tracing a small model takes longer than calling it a few times."""
    if ON_JAX:
        yield
        return
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)


def outputs(model, inputs):
    """The outputs of a model in float32 as NumPy: one array, or a list of them.

    On JAX the whole model is compiled, since compiling each operation on its own takes longer.
    """
    result = model.predict_on_batch(inputs) if ON_JAX else model(inputs, training=False)
    return keras.tree.map_structure(lambda x: numpy(keras.ops.cast(x, "float32")), result)
