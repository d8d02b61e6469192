"""The kernels of a model that can be pruned, each viewed as a stack of matrices `(stack, inputs, outputs)`.

The stack holds one matrix for a Dense layer, one for each position in the window of a convolution, and one
for each group of a grouped projection.
"""

import math

import keras
import numpy as np
from keras import layers

from hsvit_keras.compression import einsum
from hsvit_keras.compression.graph import is_named
from hsvit_runtime.errors import InputError

_TRANSPOSED = layers.Conv1DTranspose, layers.Conv2DTranspose, layers.Conv3DTranspose
# Depthwise convolutions are left out: they have few weights, and pruning those costs accuracy. They are not
# pruned in https://arxiv.org/abs/1710.01878 nor by tensorflow-model-optimization either.
_PRUNABLE = layers.Conv1D, layers.Conv2D, layers.Conv3D, *_TRANSPOSED, layers.Dense, layers.EinsumDense


class Kernel:
    """The kernel of one layer.

    Args:
        name: str, the name of the layer in the model.
        layer: built convolution, `Dense` or `EinsumDense`.
    """

    def __init__(self, name, layer):
        self.name, self.variable = name, layer.kernel
        self._axes = _axes(layer)
        self._order = [axis for axes in self._axes for axis in axes]

    @property
    def shape(self):
        """`(stack, inputs, outputs)`, three int."""
        return tuple(math.prod(self.variable.shape[axis] for axis in axes) for axes in self._axes)

    def read(self):
        """The weights as a float32 array of `shape`."""
        array = keras.ops.convert_to_numpy(self.variable).astype("float32")
        return array.transpose(self._order).reshape(self.shape)

    def apply_mask(self, mask):
        """Sets weights to zero where `mask` is False, a bool array or tensor of the variable's shape."""
        self.variable.assign(keras.ops.where(mask, self.variable.value, 0))

    def to_variable_shape(self, matrices):
        """Brings an array of `shape`, such as a mask, into the shape of the variable."""
        array = matrices.reshape([self.variable.shape[axis] for axis in self._order])
        return array.transpose(np.argsort(self._order))


def kernels(model, skip=()):
    """The kernels of `Dense` and `EinsumDense` layers and of all but depthwise convolutions.

    Subclasses of these layers are included.

    Args:
        model: built `keras.Model`.
        skip: list of str, names of layers to leave out together with the layers inside of them.

    Returns:
        list of `Kernel`. A layer inside of another is named by its path, such as "attention/query".

    Raises:
        InputError: the model has no weights yet, or a name in `skip` is not the name of a layer.
    """
    if not model.built:
        raise InputError(f"{model.name!r} has no weights yet: give it an input shape, or call it once")
    named = dict(_named_layers(model))
    for name in skip:
        if name not in named:
            raise InputError(f"skip names {name!r}, but {model.name!r} has no such layer")
    found = {}  # keyed by id, so that a layer used in several places is listed once
    for name, layer in named.items():
        if _is_prunable(layer) and not is_named(name, skip):
            found.setdefault(id(layer), Kernel(name, layer))
    return list(found.values())


def _is_prunable(layer):
    return isinstance(layer, _PRUNABLE) and layer.built and isinstance(layer.kernel, keras.Variable)


def _named_layers(layer, prefix=""):
    """Yields (path, layer) of all layers inside of `layer`, a layer before the layers inside of it."""
    for child in layer._flatten_layers(recursive=False, include_self=False):  # Keras has no public form
        yield prefix + child.name, child
        yield from _named_layers(child, f"{prefix}{child.name}/")


def _axes(layer):
    """The kernel's axes as three lists: stack, inputs and outputs."""
    rank = len(layer.kernel.shape)
    if isinstance(layer, layers.EinsumDense):
        inputs, kernel, outputs = einsum.letters(layer)
        summed = [axis for axis, label in enumerate(kernel) if label not in outputs]
        new = [axis for axis, label in enumerate(kernel) if label in outputs and label not in inputs]
        return [axis for axis in range(rank) if axis not in summed + new], summed, new
    inputs, outputs = (-1, -2) if isinstance(layer, _TRANSPOSED) else (-2, -1)
    return list(range(rank - 2)), [rank + inputs], [rank + outputs]
