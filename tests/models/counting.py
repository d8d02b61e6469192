"""Registered models without memory for their weights, to count and to look at."""

import functools

import keras
import numpy as np

import hsvit_keras


@functools.cache
def outline(name, **arguments):
    """`create_model(name, **arguments)` whose weights have shapes and no values."""
    with keras.StatelessScope(initialize_variables=False):
        return hsvit_keras.create_model(name, **arguments)


def trainable(name, **arguments):
    """Trainable parameters of `create_model(name, **arguments)`."""
    return sum(int(np.prod(weight.shape)) for weight in outline(name, **arguments).trainable_weights)
