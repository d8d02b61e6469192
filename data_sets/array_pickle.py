"""A pickle reader for bytes, numbers, strings, lists, dicts and arrays of bytes, and nothing else.

A pickle may name any function to be called while it is read. This reader refuses every name except
those in a pickled NumPy array, and gives stand-ins for these, so that a file runs no code of its own.
"""

import io
import pickle

import numpy as np

from hsvit_runtime.errors import InputError


def loads(content):
    """Reads one pickle, written by Python 2 or 3; strings of Python 2 become bytes.

    Args:
        content: bytes.

    Returns:
        The unpickled object, uint8 arrays in it as NumPy arrays.

    Raises:
        ValueError: the pickle is damaged or asks for anything that is refused.
    """
    try:
        return _with_arrays(_Unpickler(io.BytesIO(content), encoding="bytes").load())
    except Exception as error:  # a damaged pickle raises nearly anything
        raise InputError(f"the pickle cannot be read: {error}") from error


class _Array:
    """Stands in for `numpy.ndarray`."""

    def __setstate__(self, state):
        _, shape, dtype, is_fortran, content = state
        if dtype.code not in ("u1", b"u1"):
            raise pickle.UnpicklingError(f"it holds an array of {dtype.code!r}, expected bytes (u1)")
        order = "F" if is_fortran else "C"
        self.values = np.frombuffer(content, np.uint8).reshape(shape, order=order)


class _DType:
    """Stands in for `numpy.dtype`: remembers its code."""

    def __init__(self, code, *_):
        self.code = code

    def __setstate__(self, state):
        """Ignores byte order and alignment, which single bytes do not have."""


def _reconstruct(*_):
    return _Array()


_STAND_INS = {
    "numpy.ndarray": _Array,
    "numpy.dtype": _DType,
    "numpy.core.multiarray._reconstruct": _reconstruct,
    "numpy._core.multiarray._reconstruct": _reconstruct,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        try:
            return _STAND_INS[f"{module}.{name}"]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is refused") from None


def _with_arrays(item):
    if isinstance(item, dict):
        return {key: _with_arrays(value) for key, value in item.items()}
    if isinstance(item, list):
        return [_with_arrays(value) for value in item]
    return item.values if isinstance(item, _Array) else item
