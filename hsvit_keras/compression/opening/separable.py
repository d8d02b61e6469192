"""Separable convolutions as a depthwise convolution and one of single pixels behind it."""

from keras import layers

from hsvit_keras.compression.graph import is_named
from hsvit_keras.compression.opening.openings import Opening

PARTS = {
    layers.SeparableConv1D: (layers.DepthwiseConv1D, layers.Conv1D),
    layers.SeparableConv2D: (layers.DepthwiseConv2D, layers.Conv2D),
}
# Arguments of the parts, from those of the separable convolution.
_DEPTHWISE = (
    "data_format", "depth_multiplier", "depthwise_constraint", "depthwise_initializer",
    "depthwise_regularizer", "dilation_rate", "dtype", "kernel_size", "padding", "strides",
)  # fmt: skip
_POINTWISE = (
    "activation", "activity_regularizer", "bias_constraint", "bias_initializer", "bias_regularizer",
    "data_format", "dtype", "filters", "use_bias",
)  # fmt: skip
_OF_KERNEL = ("constraint", "initializer", "regularizer")


def openings_of_separable_convolutions(graph, keep):
    """How the separable convolutions of a graph are opened.

    Args:
        graph: `Graph`.
        keep: sequence of str, paths of layers that are not opened, or of models with all inside.

    Returns:
        list of `Opening`, one for each.
    """
    return [
        _opening(graph, layer)
        for layer in graph.layers
        if type(layer) in PARTS and not is_named(graph.path(layer), keep)
    ]


def _opening(graph, layer):
    depthwise_class, pointwise_class = PARTS[type(layer)]
    path, config = graph.path(layer), layer.get_config()
    depthwise_kernel, *weights = layer.get_weights()
    depthwise = depthwise_class(
        use_bias=False,
        name=graph.new_name(path, "depthwise"),
        **{argument: config[argument] for argument in _DEPTHWISE},
    )
    depthwise.build(graph.arguments(layer)[0].shape)
    depthwise.set_weights([depthwise_kernel])
    pointwise = pointwise_class(
        kernel_size=1,
        name=layer.name,
        **{argument: config[argument] for argument in _POINTWISE},
        **{f"kernel_{part}": config[f"pointwise_{part}"] for part in _OF_KERNEL},
    )

    def convolve(maps):
        return pointwise(depthwise(maps))

    return Opening({path: (pointwise, weights)}, {path: convolve}, {depthwise: layer.trainable})
