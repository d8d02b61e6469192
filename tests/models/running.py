"""Images for a model, and what it answers."""

import keras
import numpy as np

ON_JAX = keras.backend.backend() == "jax"


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


def images(model, count=2, seed=0):
    """Random images for a model, `(count, height, width, channels)`."""
    return np.random.default_rng(seed).normal(size=(count, *model.input_shape[1:])).astype("float32")


def outputs(model, inputs):
    """What a model gives, in float32 as NumPy: one array, or a list of them.

    JAX compiles each operation apart, which takes longer than the whole model at once.
    """
    result = model.predict_on_batch(inputs) if ON_JAX else model(inputs, training=False)
    return keras.tree.map_structure(lambda x: numpy(keras.ops.cast(x, "float32")), result)
