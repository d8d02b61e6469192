"""Activations that passes do not know, as those that they know.

Functions of the backend, such as `tf.nn.relu`, become Keras' own. Layers given as the activation of another,
such as `Dense(8, activation=LeakyReLU(0.1))`, become layers of the graph.
"""

import keras
from keras import layers

from hsvit_keras.compression.opening.openings import Opening
from hsvit_keras.compression.rewriting import config_of, fresh

_PACKAGES = ("jax", "tensorflow", "torch")
# Their activation is the last that they compute.
_ACTIVATED = (
    layers.Activation, layers.Dense, layers.EinsumDense,
    layers.Conv1D, layers.Conv2D, layers.Conv3D,
    layers.Conv1DTranspose, layers.Conv2DTranspose, layers.Conv3DTranspose,
    layers.DepthwiseConv1D, layers.DepthwiseConv2D, layers.SeparableConv1D, layers.SeparableConv2D,
)  # fmt: skip
# Names that mean the same everywhere; others have arguments with other defaults.
_NAMES = ("relu", "relu6", "sigmoid", "silu", "softplus", "softsign", "swish", "tanh")


def openings_of_activations(graph):
    """How the layers of a graph with an activation of the backend, or one that is a layer, are opened.

    Args:
        graph: `Graph`.

    Returns:
        list of `Opening`, one for each of these layers.
    """
    functions = [
        _opening(graph, layer, known)
        for layer in graph.layers
        if (known := _known(getattr(layer, "activation", None)))
    ]
    return functions + [
        _opening_with_a_layer(graph, layer)
        for layer in graph.layers
        if isinstance(layer, _ACTIVATED) and isinstance(layer.activation, keras.Layer)
    ]


def _known(function):
    """Keras' own activation for a function of the backend; None for others, and for those of Keras."""
    package, name = (getattr(function, name, None) or "" for name in ("__module__", "__name__"))
    is_of_backend = package.partition(".")[0] in _PACKAGES and name in _NAMES
    return keras.activations.get(name) if is_of_backend else None


def _opening(graph, layer, activation):
    new = type(layer).from_config({**config_of(layer), "activation": activation})
    return Opening({graph.path(layer): (new, layer.get_weights())}, {}, {})


def _opening_with_a_layer(graph, layer):
    """The activation as a layer `..._activation` behind the layer, which all calls of it share."""
    path, original = graph.path(layer), layer.activation
    activation = fresh(original, f"{path}.activation")
    activation.name = graph.new_name(path, "activation")
    for each in (original, activation):
        if not each.built:  # as Keras leaves it until the layer is called on numbers
            each.build(layer.compute_output_shape(graph.arguments(layer)[0].shape))
    activation.set_weights(original.get_weights())
    new = type(layer).from_config({**config_of(layer), "activation": None})
    own_weights = layer.get_weights()[: len(layer.weights) - len(original.weights)]

    def call(*args, **kwargs):
        return activation(new(*args, **kwargs))

    return Opening({path: (new, own_weights)}, {path: call}, {activation: original.trainable})
