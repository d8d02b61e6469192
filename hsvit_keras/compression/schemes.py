"""Quantization schemes: tables that say which layer classes are quantized, and how.

A scheme is changed by `dataclasses.replace`, such as `dataclasses.replace(SCHEMES["int8"], percent=99.9)` or
`dataclasses.replace(scheme, floating=(*scheme.floating, MyNorm))`.
"""

import dataclasses
from collections.abc import Mapping

from keras import layers

from hsvit_keras import layers as ours
from hsvit_keras.compression import quantized_layers as quantized
from hsvit_keras.compression.ranges import check_bits, check_observer
from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True)
class Scheme:
    """Which layers compute with integers, and how their activations and weights are rounded.

    A layer whose class is in none of `integer`, `transparent` and `floating` stays float, with a warning.

    Attributes:
        integer: mapping from classes that compute with integers to their quantized classes, see
            `quantized_layers`; a class without weights is mapped to itself. Inputs and outputs of these
            layers get ranges.
        transparent: tuple of classes that only move or select values: input and output share one range.
        floating: tuple of classes that stay float.
        symmetric: mapping from a class to the indices of its inputs whose ranges have to be symmetric, as
            the right operand of a product of two activations.
        weight_bits: int, bits of kernels and added weights.
        activation_bits: int, bits of activations.
        percent: float in (50, 100], see `ActivationRange`.
        momentum: float in [0, 1), see `ActivationRange`.

    Raises:
        InputError: a number is out of its range.
    """

    integer: Mapping
    transparent: tuple
    floating: tuple
    symmetric: Mapping
    weight_bits: int = 8
    activation_bits: int = 8
    percent: float = 100.0
    momentum: float = 0.99

    def __post_init__(self):
        check_bits("weight_bits", self.weight_bits)
        check_bits("activation_bits", self.activation_bits)
        check_observer(self.percent, self.momentum)


_ATTENTION = (ours.SoftmaxAttention, ours.LinformerAttention, ours.PerformerAttention, ours.NystromAttention)

SCHEMES = {
    # Convolutions, projections and residual adds compute with 8 bits. Normalization, GELU and the core of
    # attention stay float: phones have no fast integer kernels for them, normalization loses accuracy in 8
    # bits, and 8-bit attention weights, multiples of 1/256, are too coarse for hundreds of tokens.
    "int8": Scheme(
        integer={
            layers.Conv1D: quantized.QuantizedConv1D,
            layers.Conv2D: quantized.QuantizedConv2D,
            layers.DepthwiseConv2D: quantized.QuantizedDepthwiseConv2D,
            layers.Dense: quantized.QuantizedDense,
            layers.EinsumDense: quantized.QuantizedEinsumDense,
            ours.ClassToken: quantized.QuantizedClassToken,
            ours.PositionEmbedding: quantized.QuantizedPositionEmbedding,
            ours.JoinTokens: ours.JoinTokens,
            ours.Shift: ours.Shift,
            layers.Add: layers.Add,
            layers.Concatenate: layers.Concatenate,
            layers.Multiply: layers.Multiply,
            layers.Subtract: layers.Subtract,
            layers.GlobalAveragePooling1D: layers.GlobalAveragePooling1D,
            layers.GlobalAveragePooling2D: layers.GlobalAveragePooling2D,
        },
        transparent=(
            ours.FirstToken,
            ours.GroupDropout,
            ours.ModelDescription,
            ours.NearestUpsampling,
            ours.TokenRange,
            layers.Dropout,
            layers.Flatten,
            layers.GlobalMaxPooling2D,
            layers.MaxPooling1D,
            layers.MaxPooling2D,
            layers.Permute,
            layers.Reshape,
            layers.SpatialDropout2D,
            layers.UpSampling2D,
            layers.ZeroPadding1D,
            layers.ZeroPadding2D,
        ),
        floating=(
            *_ATTENTION,
            ours.ChannelNormalization,
            ours.FourierMixing,
            ours.GroupLayerNormalization,
            ours.RotaryEmbedding,
            ours.SequencePooling,
            ours.TileTokens,
            layers.Activation,
            layers.Average,
            layers.AveragePooling1D,
            layers.AveragePooling2D,
            layers.BatchNormalization,
            layers.InputLayer,
            layers.LayerNormalization,
            layers.Normalization,
            layers.ReLU,
            layers.Rescaling,
            layers.Softmax,
        ),
        symmetric={attention: (1, 2) for attention in _ATTENTION},
    ),
}


def scheme_named(scheme):
    """The scheme of a name; a `Scheme` is returned unchanged.

    Raises:
        InputError: there is no scheme of that name.
    """
    if isinstance(scheme, Scheme):
        return scheme
    if scheme not in SCHEMES:
        raise InputError(
            f"scheme has to be a Scheme or one of {', '.join(map(repr, SCHEMES))}; received {scheme!r}"
        )
    return SCHEMES[scheme]
