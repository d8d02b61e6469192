"""What the outputs of a Keras model are, by what computes them last."""

import keras
from keras import layers

from hsvit_keras.compression.graph import functional, is_nested
from hsvit_keras.compression.ranges import ActivationRange
from hsvit_keras.layers.model_description import ModelDescription

# Layers that give the values that they take.
_TRANSPARENT = (
    ModelDescription,
    ActivationRange,
    layers.Dropout,
    layers.Flatten,
    layers.Identity,
    layers.Reshape,
)


def activation_of(model):
    """The activation that gives the only output of a model.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.

    Returns:
        str, such as "softmax", "sigmoid" or "linear"; None where there are several outputs, or what computes
        the output has no activation.
    """
    tensors = functional(model).outputs
    return _activation(tensors[0]) if len(tensors) == 1 else None


def gives_probabilities(activation):
    """Whether an activation makes probabilities of logits."""
    return activation in ("softmax", "sigmoid")


def loss_of(model):
    """Keras' name of the loss that a model was compiled with, None without one."""
    loss = getattr(model, "loss", None)
    if isinstance(loss, str):
        try:
            loss = keras.losses.get(loss)
        except ValueError:  # a name of an object, not one of Keras' abbreviations
            return loss
    return getattr(loss, "name", None) or getattr(loss, "__name__", None)


def _activation(tensor):
    history = tensor._keras_history
    last = history.operation
    if is_nested(last):
        return _activation(functional(last).outputs[history.tensor_index])
    if isinstance(last, _TRANSPARENT):
        return _activation(last.input)
    if type(last).__name__ in ("Softmax", "Sigmoid"):  # the layers and the operations of `keras.ops`
        return type(last).__name__.lower()
    function = getattr(last, "activation", None)
    return getattr(function, "__name__", None)
