"""Quantization schemes: tables that say which layer classes are quantized, and how.

A scheme is changed by `dataclasses.replace`, such as `dataclasses.replace(SCHEMES["int8"], percent=99.9)` or
`dataclasses.replace(scheme, floating=(*scheme.floating, MyNorm))`.
"""

import dataclasses
from collections.abc import Mapping

import keras
from keras import layers
from keras.src.ops import numpy as operations  # the classes behind `keras.ops` have no public names

from hsvit_keras import layers as ours
from hsvit_keras.compression import quantized_layers as quantized
from hsvit_keras.compression.ranges import check_bits, check_observer
from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True)
class Scheme:
    """Which layers compute with integers, and how their activations and weights are rounded.

    The tables hold kinds of layers: classes, and for an `Activation` its function, see `kind_of`. A layer
    whose kind and class are in none of them stays float, with a warning.

    Attributes:
        integer: mapping from kinds that compute with integers to their quantized classes, see
            `quantized_layers`; a kind without weights is mapped to itself. Inputs and outputs of these
            layers get ranges.
        sharing: tuple of kinds of `integer` whose inputs and output have one range in common.
        between: tuple of kinds that compute with integers where all that they read and all that reads them
            does, and are float elsewhere.
        transparent: tuple of kinds that only move or select values: input and output share one range.
        floating: tuple of kinds that stay float.
        symmetric: mapping from a kind to the indices of its inputs whose ranges have to be symmetric, as
            the right operand of a product of two activations.
        weight_bits: int, bits of kernels and added weights.
        activation_bits: int, bits of activations.
        percent: float in (50, 100], see `ActivationRange`.
        momentum: float in [0, 1), see `ActivationRange`.

    Raises:
        InputError: a number is out of its range.
    """

    integer: Mapping
    sharing: tuple
    between: tuple
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


_ATTENTION = (
    ours.GridAttention, ours.LinformerAttention, ours.NystromAttention, ours.PerformerAttention,
    ours.SoftmaxAttention,
)  # fmt: skip

SCHEMES = {
    # Convolutions, projections and residual adds compute with 8 bits. Normalization, GELU and the core of
    # attention stay float: phones have no fast integer kernels for them, normalization loses accuracy in 8
    # bits, and 8-bit attention weights, multiples of 1/256, are too coarse for hundreds of tokens.
    "int8": Scheme(
        integer={
            layers.Conv1D: quantized.QuantizedConv1D,
            layers.Conv1DTranspose: quantized.QuantizedConv1DTranspose,
            layers.Conv2D: quantized.QuantizedConv2D,
            layers.Conv2DTranspose: quantized.QuantizedConv2DTranspose,
            layers.DepthwiseConv1D: quantized.QuantizedDepthwiseConv1D,
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
            layers.UpSampling2D: layers.UpSampling2D,
        },
        sharing=(layers.Concatenate, layers.UpSampling2D),
        between=(
            keras.activations.sigmoid,
            keras.activations.silu,  # as a product with the sigmoid
            keras.activations.tanh,
            ours.LayerScale,
            layers.AveragePooling1D,
            layers.AveragePooling2D,
            layers.BatchNormalization,
            layers.LeakyReLU,
            layers.Normalization,
            layers.Rescaling,
        ),
        transparent=(
            operations.GetItem,
            operations.Split,
            ours.EdgePadding2D,
            ours.FirstToken,
            ours.FoldPatches,
            ours.GroupDropout,
            ours.ImageParts,
            ours.ModelDescription,
            ours.NearestUpsampling,
            ours.StopGradient,
            ours.TokenRange,
            ours.UnfoldPatches,
            keras.activations.linear,
            layers.AlphaDropout,
            layers.Cropping1D,
            layers.Cropping2D,
            layers.Dropout,
            layers.Flatten,
            layers.GaussianDropout,
            layers.GaussianNoise,
            layers.GlobalMaxPooling1D,
            layers.GlobalMaxPooling2D,
            layers.Identity,
            layers.MaxPooling1D,
            layers.MaxPooling2D,
            layers.Permute,
            layers.RepeatVector,
            layers.Reshape,
            layers.SpatialDropout1D,
            layers.SpatialDropout2D,
            layers.ZeroPadding1D,
            layers.ZeroPadding2D,
        ),
        # Recurrent layers and others whose integer kernels would be worth something are left out: that they
        # stay float is said.
        floating=(
            *_ATTENTION,
            ours.AdditiveAttention,
            ours.AnchorBoxes,
            ours.BoxLogits,
            ours.ChannelNormalization,
            ours.DeformableAttention,
            ours.DistributionBoxes,
            ours.DetectionOutput,
            ours.ForEachSample,
            ours.FourierMixing,
            ours.GroupLayerNormalization,
            ours.OwnWeight,
            ours.RotaryEmbedding,
            ours.ScoredAttention,
            ours.SeparableAttention,
            ours.SequencePooling,
            ours.SinePositionEmbedding,
            ours.TileTokens,
            ours.TokenElimination,
            ours.quick_gelu,
            layers.Activation,
            layers.Average,
            layers.ELU,
            layers.GroupNormalization,
            layers.InputLayer,
            layers.LayerNormalization,
            layers.Maximum,
            layers.Minimum,
            layers.PReLU,
            layers.RMSNormalization,
            layers.ReLU,
            layers.Resizing,
            layers.Softmax,
            layers.UnitNormalization,
        ),
        symmetric={attention: (1, 2) for attention in _ATTENTION},
    ),
}


def kind_of(layer):
    """What the tables of a scheme tell a layer by: the function of an `Activation`, or a class.

    Args:
        layer: `keras.Operation`.

    Returns:
        A function or a class.
    """
    return layer.activation if type(layer) is layers.Activation else type(layer)


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
