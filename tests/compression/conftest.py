"""Fixtures for tests of compression."""

import keras
import pytest


@pytest.fixture
def without_tracing():
    """Runs TensorFlow eagerly, since tracing a small model takes longer than calling it a few times."""
    if keras.backend.backend() != "tensorflow":
        yield
        return
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)
