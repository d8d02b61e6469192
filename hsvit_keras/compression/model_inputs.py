"""What a model is given: arrays by the names of its inputs, in any of the forms that `fit` takes."""

from collections.abc import Mapping

import keras
import numpy as np

from hsvit_keras.compression.graph import functional
from hsvit_runtime.errors import InputError


def input_name(tensor):
    """The name of one of a model's inputs: that of its layer."""
    return tensor._keras_history.operation.name


def named_inputs(model, inputs, what="inputs"):
    """The inputs of a model by their names.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.
        inputs: array (count, ...) for the only input, list of an array for each, or dict of them by their
            names or by the keys of the model's own dict.
        what: str, how to call them in errors.

    Returns:
        dict from an input's name to an array (count, ...).

    Raises:
        InputError: they are not those of the model.
    """
    model = functional(model)
    tensors = {input_name(tensor): tensor for tensor in model.inputs}
    arrays = _by_name(model, inputs, list(tensors), what)
    for name, tensor in tensors.items():
        _check_shape(arrays[name], tensor, f"{what} for {name!r}")
    if len({len(array) for array in arrays.values()}) > 1:
        counts = ", ".join(f"{len(array)} for {name!r}" for name, array in arrays.items())
        raise InputError(f"{what} have to be of one number of samples; received {counts}")
    return arrays


def structured(model, named):
    """The arrays of `named_inputs` in the structure that the model takes."""
    arrays = [named[input_name(tensor)] for tensor in model.inputs]
    return keras.tree.pack_sequence_as(model.input, arrays)


def inputs_of_batch(model, batch):
    """The inputs in a batch as `fit` takes it.

    Args:
        model: `keras.Model`.
        batch: array, dict, or list of the inputs; or tuple of them and targets. A list that is not one array
            for each of several inputs is taken as a tuple is, which is what `fit` does.

    Returns:
        Array, list or dict.
    """
    if isinstance(batch, tuple):
        return batch[0]
    if isinstance(batch, list):
        nested = any(isinstance(part, list | tuple | Mapping) for part in batch)
        is_inputs = len(model.inputs) == len(batch) > 1 and not nested
        return batch if is_inputs else batch[0]
    return batch


def _by_name(model, inputs, names, what):
    if isinstance(inputs, Mapping):
        given = {_name_of(key, model): np.asarray(array) for key, array in inputs.items()}
        if set(given) != set(names):
            raise InputError(
                f"{what} have to be named as those of {model.name!r}, {', '.join(names)}; "
                f"received {', '.join(map(str, inputs)) or 'none'}"
            )
        return given
    if len(names) == 1:
        array = np.asarray(inputs)
        is_list = isinstance(inputs, list | tuple) and len(inputs) == 1
        return {names[0]: array[0] if is_list and array.ndim > len(model.inputs[0].shape) else array}
    if not isinstance(inputs, list | tuple) or len(inputs) != len(names):
        raise InputError(
            f"{model.name!r} has {len(names)} inputs, {', '.join(names)}: {what} have to be a list of an "
            "array for each, or a dict"
        )
    return {name: np.asarray(array) for name, array in zip(names, inputs, strict=True)}


def _name_of(key, model):
    """The name of the input that a key stands for: its own, or one of the model's dict of inputs."""
    if isinstance(model.input, dict) and key in model.input:
        return input_name(model.input[key])
    return key


def _check_shape(array, tensor, what):
    fits = array.ndim == len(tensor.shape) and all(
        size in (None, found) for size, found in zip(tensor.shape[1:], array.shape[1:], strict=True)
    )
    if not fits or not len(array):
        wanted = ", ".join("any" if size is None else str(size) for size in tensor.shape[1:])
        raise InputError(f"{what} have to be of shape (count, {wanted}); received {array.shape}")
