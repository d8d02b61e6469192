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
    found = model._flatten_layers(include_self=False)
    kinds = [(isinstance(layer, _CONVOLUTIONS), isinstance(layer, _ATTENTIONS)) for layer in found]
    convolutions, attentions = map(sum, zip(*kinds, strict=True))
    return {"convolutions": convolutions, "attentions": attentions}
