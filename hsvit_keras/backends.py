"""Which backend Keras runs on."""

import keras

from hsvit_runtime.errors import InputError


def require_backend(*allowed):
    """Raises `InputError` unless Keras runs on one of the backends `allowed`."""
    backend = keras.backend.backend()
    if backend not in allowed:
        names = " or ".join(allowed)
        raise InputError(
            f"this needs Keras on {names}, and Keras runs on {backend}: "
            f"set the environment variable KERAS_BACKEND={allowed[0]}"
        )
