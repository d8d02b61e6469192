"""Models without memory for their weights, to count and to look at."""

import functools

import keras
import numpy as np

import hsvit_keras


def without_values(make):
    """The model that `make()` builds, whose weights have shapes and no values."""
    with keras.StatelessScope(initialize_variables=False):
        model = make()
    keras.utils.clear_session(free_memory=False)  # Keras would give them values at the next occasion
    return model


@functools.cache
def outline(name, **arguments):
    """`create_model(name, **arguments)` without values."""
    return without_values(lambda: hsvit_keras.create_model(name, **arguments))


def count(model):
    """Trainable parameters of a model."""
    return sum(int(np.prod(weight.shape)) for weight in model.trainable_weights)


def trainable(name, **arguments):
    """Trainable parameters of `create_model(name, **arguments)`."""
    return count(outline(name, **arguments))
