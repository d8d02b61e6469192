"""How many layers a model has, as papers count them: convolutions and attentions."""

from keras import layers

from hsvit_keras.layers import (
    AdditiveAttention,
    LinformerAttention,
    NystromAttention,
    PerformerAttention,
    SoftmaxAttention,
)

_CONVOLUTIONS = (layers.Conv2D, layers.DepthwiseConv2D, layers.SeparableConv2D, layers.Conv2DTranspose)
_ATTENTIONS = (
    AdditiveAttention, LinformerAttention, NystromAttention, PerformerAttention, SoftmaxAttention,
    layers.MultiHeadAttention, layers.GroupQueryAttention,
)  # fmt: skip


def count_layers(model):
    """Counts two-dimensional convolutions, those of size 1 and in parallel among them, and attentions.

    Args:
        model: `keras.Model`; layers inside of layers count.

    Returns:
        dict of `convolutions` and `attentions`, ints.
    """
    found = list(model._flatten_layers(include_self=False))
    kinds = {"convolutions": _CONVOLUTIONS, "attentions": _ATTENTIONS}
    return {name: sum(isinstance(layer, kind) for layer in found) for name, kind in kinds.items()}
