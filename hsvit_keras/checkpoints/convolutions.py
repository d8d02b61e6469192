"""Convolutions and the normalizations behind them, of which ResNet, MobileNetV2 and EfficientNet are made."""

import keras

from hsvit_keras.checkpoints import tensors as read


def unit(model, tensors, layer, convolution, normalization):
    """Sets the weights of a convolution, depthwise or not, and of the normalization behind it.

    Args:
        model: `keras.Model`.
        tensors: `Tensors`.
        layer: str, our convolution; its normalization has the same name with `_norm` behind.
        convolution: str, the authors' module.
        normalization: str, the authors' module.
    """
    ours = model.get_layer(layer)
    load = read.depthwise if isinstance(ours, keras.layers.DepthwiseConv2D) else read.convolution
    load(ours, tensors, convolution)
    read.normalization(model.get_layer(f"{layer}_norm"), tensors, normalization)


def blocks(model):
    """A list of what the names of each block's layers start with, `stage0_block0` first."""
    return [f"stage{stage}_block{i}" for stage, depth in enumerate(model.depths) for i in range(depth)]


def has(model, layer):
    """Whether a model has a layer of this name."""
    return any(ours.name == layer for ours in model.layers)
