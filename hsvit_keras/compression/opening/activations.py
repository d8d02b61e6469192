"""Activations given as functions of the backend, such as `tf.nn.relu`, as Keras' own, which passes know."""

import keras

from hsvit_keras.compression.opening.openings import Opening
from hsvit_keras.compression.rewriting import config_of

_PACKAGES = ("jax", "tensorflow", "torch")
# Names that mean the same everywhere; others have arguments with other defaults.
_NAMES = ("relu", "relu6", "sigmoid", "silu", "softplus", "softsign", "swish", "tanh")


def openings_of_activations(graph):
    """How the layers of a graph with an activation of the backend are opened.

    Args:
        graph: `Graph`.

    Returns:
        list of `Opening`, one for each of these layers.
    """
    return [
        _opening(graph, layer, known)
        for layer in graph.layers
        if (known := _known(getattr(layer, "activation", None)))
    ]


def _known(function):
    """Keras' own activation for a function of the backend; None for others, and for those of Keras."""
    package, name = (getattr(function, name, None) or "" for name in ("__module__", "__name__"))
    is_of_backend = package.partition(".")[0] in _PACKAGES and name in _NAMES
    return keras.activations.get(name) if is_of_backend else None


def _opening(graph, layer, activation):
    new = type(layer).from_config({**config_of(layer), "activation": activation})
    return Opening({graph.path(layer): (new, layer.get_weights())}, {}, {})
