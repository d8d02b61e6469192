"""What is quantized, and how: a scheme is a table of layer classes that can be read, and extended.

`dataclasses.replace(SCHEMES["int8"], percent=99.9)` gives a scheme of one's own, and so does
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
    """Which layers compute with integers, and how ranges and weights are rounded.

    A layer whose class is in none of the three tables stays float, with a warning.

    Attributes:
        integer: mapping from classes that compute with integers to what takes their place: a quantized
            class, see `quantized_layers`, or the class itself where it has no weights. Inputs and
            outputs of these layers get ranges.
        transparent: classes that move values and compute none: their outputs have the range of their input.
        floating: classes that are known to stay float.
        symmetric: mapping from a class to the indices of the arguments whose ranges have zero in their
            middle. Products of two activations need that on the right side.
        weight_bits: int, of kernels and constants.
        activation_bits: int, of ranges.
        percent: float in (50, 100], see `ActivationRange`.
        momentum: float in [0, 1), see `ActivationRange`.
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
    # attention stay float: phones have no fast integer form of them, normalization loses accuracy in 8 bits,
    # and integer attention weights are multiples of 1/256, too coarse for a look at hundreds of tokens.
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
            layers.ReLU,
            layers.Rescaling,
            layers.Softmax,
        ),
        symmetric={attention: (1, 2) for attention in _ATTENTION},
    ),
}


def scheme_named(scheme):
    """The scheme of a name; a `Scheme` is given back as it is.

    Raises:
        ValueError: there is none of that name.
    """
    if isinstance(scheme, Scheme):
        return scheme
    if scheme not in SCHEMES:
        raise InputError(
            f"scheme has to be a Scheme or one of {', '.join(map(repr, SCHEMES))}; received {scheme!r}"
        )
    return SCHEMES[scheme]
