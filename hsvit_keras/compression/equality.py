"""Passes that promise equal outputs check it on one batch before they return."""

import keras
import numpy as np

from hsvit_keras.compression.graph import Graph, functional
from hsvit_keras.compression.probing import Probe
from hsvit_keras.compression.ranges import unrounded
from hsvit_keras.layers.model_description import description_of

# Largest difference, as a share of the largest output, by the dtype that the least precise layer computes in.
_TOLERANCES = {"float64": 1e-3, "float32": 1e-3, "bfloat16": 0.1, "float16": 0.02}
_FREE_SIZE = 32  # for axes of any size


class PassError(RuntimeError):
    """A pass gave a model with other outputs, which is a fault of the pass."""


def checked(model, copy, done, check=True):
    """Returns `copy`, after comparing its outputs with those of the model that a pass made it of.

    Both compute one random batch without rounding.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.
        copy: `keras.Model`, with the same inputs and outputs.
        done: str, the pass, for the message.
        check: bool, whether to compare them.

    Raises:
        PassError: an output differs; it names the first layer that does.
    """
    if not check:
        return copy
    with unrounded():
        _check(model, copy, done)
    return copy


def _check(model, copy, done):
    inputs = random_inputs(model)
    tolerance = max(_TOLERANCES.get(dtype, 1e-3) for dtype in {"float32", *_compute_dtypes(model)})
    pairs = zip(_outputs(model, inputs), _outputs(copy, inputs), strict=True)
    largest = max((_difference(expected, found) for expected, found in pairs), default=0)
    if largest > tolerance:
        raise PassError(
            f"{model.name!r} would give other outputs after {done}: they differ by {largest:.2g} of the "
            f"largest, at first in {_first_difference(model, copy, inputs, tolerance)!r}. "
            "check=False returns the model all the same"
        )


def random_inputs(model, batch_size=2):
    """Random inputs of a model, in the range of its pixels if it says one.

    Returns:
        Arrays in the structure of `model.input`.
    """
    rng = np.random.default_rng(0)
    low, high = description_of(model).input_range or (-1.0, 1.0)

    def values(tensor):
        shape = [batch_size if tensor.shape[0] is None else tensor.shape[0]]
        shape += [_FREE_SIZE if size is None else size for size in tensor.shape[1:]]
        if "float" in tensor.dtype:
            return rng.uniform(low, high, shape).astype("float32")
        return rng.integers(0, 2, shape).astype(tensor.dtype)

    return keras.tree.map_structure(values, functional(model).input)


def _outputs(model, inputs):
    return [_array(output) for output in keras.tree.flatten(model(inputs, training=False))]


def _array(tensor):
    return np.asarray(keras.ops.convert_to_numpy(tensor), "float64")


def _difference(expected, found):
    """The largest difference as a share of the largest value; infinity where shapes or NaN differ."""
    if expected.shape != found.shape or (np.isnan(expected) != np.isnan(found)).any():
        return np.inf
    scale = np.nanmax(np.abs(expected), initial=1e-6)
    return float(np.nanmax(np.abs(found - expected), initial=0) / scale)


def _first_difference(model, copy, inputs, tolerance):
    """The path of the first layer behind the last one whose outputs are equal in both models."""
    expected, found = _by_path(model, inputs), _by_path(copy, inputs)
    shared = [path for path in expected if path in found]
    equal = [i for i, path in enumerate(shared) if _difference(expected[path], found[path]) <= tolerance]
    return shared[min(equal[-1] + 1 if equal else 0, len(shared) - 1)]


def _by_path(model, inputs):
    """The first output of every layer, by its path."""
    graph = Graph(model)
    first = Probe(model, graph.layers, lambda layer, outputs: keras.tree.flatten(outputs)[0])
    return {
        graph.path(layer): _array(output)
        for layer, output in zip(graph.layers, first(inputs, training=False), strict=True)
    }


def _compute_dtypes(model):
    return {layer.compute_dtype for layer in Graph(model).layers if layer.weights}
