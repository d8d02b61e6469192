"""The kernels of a model that can be pruned, each looked at as a stack of matrices.

`(stack, inputs, outputs)`: one matrix for a Dense layer, one for each place in the window of a convolution,
one for each group of a grouped projection.
"""

import math

import keras
import numpy as np
from keras import layers

from hsvit_keras.compression import einsum
from hsvit_runtime.errors import InputError

_TRANSPOSED = layers.Conv1DTranspose, layers.Conv2DTranspose, layers.Conv3DTranspose
# Without depthwise convolutions: they hold few weights, of which each counts
# (https://arxiv.org/abs/1710.01878 leaves them whole, and so does tensorflow-model-optimization).
_PRUNABLE = layers.Conv1D, layers.Conv2D, layers.Conv3D, *_TRANSPOSED, layers.Dense, layers.EinsumDense


class Kernel:
    """The kernel of one layer.

    Args:
        name: str, the name of the layer.
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

    def keep(self, mask):
        """Sets to zero what `mask` does not keep, a bool array or tensor in the shape of the variable."""
        self.variable.assign(keras.ops.where(mask, self.variable.value, 0))

    def in_place(self, matrices):
        """An array of `shape`, such as a mask, in the shape of the variable."""
        array = matrices.reshape([self.variable.shape[axis] for axis in self._order])
        return array.transpose(np.argsort(self._order))


def kernels(model, skip=()):
    """The kernels of convolutions (less depthwise ones), `Dense` and `EinsumDense`, and their subclasses.

    Args:
        model: built `keras.Model`.
        skip: list of names of layers to leave out, with all that is inside of them.

    Returns:
        list of `Kernel`. Layers inside of others are named as in "attention/query".

    Raises:
        ValueError: the model has no weights yet, or no layer of a name in `skip`.
    """
    if not model.built:
        raise InputError(f"{model.name!r} has no weights yet: give it an input shape, or call it once")
    named = dict(_inside(model))
    for name in skip:
        if name not in named:
            raise InputError(f"skip names {name!r}, and {model.name!r} has no such layer")
    found = {}  # a layer that stands in several places counts once
    for name, layer in named.items():
        if _is_prunable(layer) and not any(f"{name}/".startswith(f"{skipped}/") for skipped in skip):
            found.setdefault(id(layer), Kernel(name, layer))
    return list(found.values())


def _is_prunable(layer):
    return isinstance(layer, _PRUNABLE) and layer.built and isinstance(layer.kernel, keras.Variable)


def _inside(layer, prefix=""):
    """Names and layers, from the outside to the inside."""
    for child in layer._flatten_layers(recursive=False, include_self=False):  # it has no public name
        yield prefix + child.name, child
        yield from _inside(child, f"{prefix}{child.name}/")


def _axes(layer):
    """Three lists: the axes of the kernel's stack, of its inputs and of its outputs."""
    rank = len(layer.kernel.shape)
    if isinstance(layer, layers.EinsumDense):
        inputs, kernel, outputs = einsum.letters(layer)
        summed = [axis for axis, label in enumerate(kernel) if label not in outputs]
        new = [axis for axis, label in enumerate(kernel) if label in outputs and label not in inputs]
        return [axis for axis in range(rank) if axis not in summed + new], summed, new
    inputs, outputs = (-1, -2) if isinstance(layer, _TRANSPOSED) else (-2, -1)
    return list(range(rank - 2)), [rank + inputs], [rank + outputs]
