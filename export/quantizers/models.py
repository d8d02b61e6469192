"""Small models to quantize: one of each family of the package, and patterns of ordinary Keras models."""

import keras
from keras import layers

import hsvit_keras

IMAGE_SHAPE = (32, 32, 1)
CLASSES = 10
_TOKENS = {"hidden_dim": 48, "num_heads": 4, "depth": 2, "mlp_dim": 96}
_XFORMER = {"hidden_dim": 32, "num_heads": 4, "head_dim": 8, "depth": 2}
_FAMILIES = {
    "hsvit_tiny": {},
    "cct": {**_XFORMER, "strides": (2, 2, 1)},
    "cvt": {
        "hidden_dims": (16, 24, 32), "num_heads": (2, 2, 4), "head_dim": 8, "embedding_strides": (4, 2, 1),
    },
    "deit_tiny": {**_TOKENS, "patch_size": 4},
    "dhvt_t_cifar_p4": _TOKENS,
    "fnet2d": {"hidden_dim": 32, "depth": 2},
    "hvt_ti_1": {**_TOKENS, "patch_size": 4},
    "levit": {**_XFORMER, "embedding_stride": 4},
    "mlp_mixer": {"hidden_dim": 32, "depth": 2, "patch_size": 4},
    "pit_ti": {
        "patch_size": 4, "patch_stride": 4, "depths": (1, 1, 1), "num_heads": (2, 4, 8),
        "head_dims": (8, 8, 8),
    },
}  # fmt: skip


def names():
    """Names of all models."""
    return [*_FAMILIES, *_PATTERNS]


def create(name):
    """A model of a name with fresh weights, from pixels to logits."""
    if name in _FAMILIES:
        sizes = {"input_shape": IMAGE_SHAPE, "num_classes": CLASSES, **_FAMILIES[name]}
        return hsvit_keras.create_model(name, **sizes, mean=0.5, std=0.5)
    pixels = keras.Input(IMAGE_SHAPE, name="pixels")
    features = _PATTERNS[name](layers.Rescaling(1 / 127.5, -1.0)(pixels))
    model = keras.Model(pixels, layers.Dense(CLASSES, name="head")(features), name=name)
    for layer in model._flatten_layers():
        if isinstance(layer, layers.BatchNormalization):
            layer.momentum = 0.9  # a few hundred steps would not fill Keras' own averages
    return model


def _convolution(maps, filters, size=3, strides=1, activation="relu"):
    """Convolution, batch normalization, activation."""
    maps = layers.Conv2D(filters, size, strides, "same", use_bias=False)(maps)
    maps = layers.BatchNormalization()(maps)
    return layers.Activation(activation)(maps) if activation else maps


def _plain(maps):
    for filters in (16, 32, 64):
        maps = layers.MaxPooling2D(2)(_convolution(maps, filters))
    return layers.Flatten()(maps)


def _residual(maps):
    maps = _convolution(maps, 16, strides=2)
    for filters in (16, 32, 32):
        strides = filters // maps.shape[-1]
        branch = _convolution(_convolution(maps, filters, strides=strides), filters, activation=None)
        shortcut = _convolution(maps, filters, 1, strides, None) if strides > 1 else maps
        maps = layers.ReLU()(layers.Add()([shortcut, branch]))
    return layers.GlobalAveragePooling2D()(maps)


def _residual_preactivated(maps):
    """Normalization that no convolution can take in: behind sums."""
    maps = layers.Conv2D(16, 3, 2, "same")(maps)
    for _ in range(3):
        branch = layers.ReLU()(layers.BatchNormalization()(maps))
        branch = layers.Conv2D(16, 3, padding="same")(_convolution(branch, 16))
        maps = layers.Add()([maps, branch])
    return layers.GlobalAveragePooling2D()(layers.ReLU()(layers.BatchNormalization()(maps)))


def _dense_blocks(maps):
    """DenseNet: everything before is concatenated, then normalized."""
    maps = layers.Conv2D(16, 3, 2, "same")(maps)
    for _ in range(2):
        for _ in range(3):
            new = layers.ReLU()(layers.BatchNormalization()(maps))
            new = layers.Conv2D(8, 3, padding="same")(_convolution(new, 16, 1))
            maps = layers.Concatenate()([maps, new])
        maps = layers.ReLU()(layers.BatchNormalization()(maps))
        maps = layers.AveragePooling2D(2)(layers.Conv2D(16, 1)(maps))
    return layers.GlobalAveragePooling2D()(maps)


def _inception(maps):
    """Branches of several sizes, of which one averages, side by side."""
    maps = _convolution(maps, 16, strides=2)
    for _ in range(2):
        averages = layers.AveragePooling2D(3, 1, "same")(maps)
        branches = [
            _convolution(maps, 8, 1),
            _convolution(_convolution(maps, 8, 1), 12, 3),
            _convolution(_convolution(_convolution(maps, 8, 1), 12, 3), 12, 3),
            _convolution(averages, 8, 1),
        ]
        maps = layers.MaxPooling2D(2)(layers.Concatenate()(branches))
    return layers.GlobalAveragePooling2D()(maps)


def _separable(maps):
    maps = _convolution(maps, 16, strides=2)
    for filters in (24, 32):
        branch = layers.ReLU()(
            layers.BatchNormalization()(layers.SeparableConv2D(filters, 3, padding="same")(maps))
        )
        branch = layers.BatchNormalization()(layers.SeparableConv2D(filters, 3, padding="same")(branch))
        branch = layers.MaxPooling2D(3, 2, "same")(branch)
        maps = layers.Add()([branch, _convolution(maps, filters, 1, 2, None)])
    return layers.GlobalAveragePooling2D()(maps)


def _squeeze_and_excite(maps):
    """Inverted residuals with SiLU, gated by their own means, as in EfficientNet."""
    maps = _convolution(maps, 16, strides=2, activation="silu")
    for _ in range(2):
        wide = _convolution(maps, 48, 1, activation="silu")
        wide = layers.Activation("silu")(
            layers.BatchNormalization()(layers.DepthwiseConv2D(3, padding="same", use_bias=False)(wide))
        )
        gate = layers.GlobalAveragePooling2D(keepdims=True)(wide)
        gate = layers.Conv2D(8, 1, activation="silu")(gate)
        gate = layers.Conv2D(48, 1, activation="sigmoid")(gate)
        maps = layers.Add()([maps, _convolution(layers.Multiply()([wide, gate]), 16, 1, activation=None)])
    return layers.GlobalAveragePooling2D()(maps)


def _leaky(maps):
    """LeakyReLU and strided convolutions, as in discriminators and detectors."""
    for filters in (16, 32, 32):
        maps = layers.BatchNormalization()(layers.Conv2D(filters, 3, 2, "same", use_bias=False)(maps))
        maps = layers.LeakyReLU(0.1)(maps)
    return layers.Flatten()(maps)


def _hourglass(maps):
    """Down and up again, with the maps of each size side by side, as in U-Net."""
    first = _convolution(maps, 8)
    second = _convolution(layers.MaxPooling2D(2)(first), 16)
    third = _convolution(layers.MaxPooling2D(2)(second), 24)
    up = layers.Concatenate()([second, layers.UpSampling2D(2, interpolation="bilinear")(third)])
    up = layers.Conv2DTranspose(8, 2, 2)(_convolution(up, 16))
    up = _convolution(layers.Concatenate()([first, up]), 8)
    return layers.Flatten()(layers.AveragePooling2D(4)(up))


def _transformer(maps):
    """Keras' own attention layers."""
    tokens = layers.Reshape((64, 32))(layers.Conv2D(32, 4, 4)(maps))
    for _ in range(2):
        normalized = layers.LayerNormalization(epsilon=1e-6)(tokens)
        tokens = layers.Add()([tokens, layers.MultiHeadAttention(4, 8)(normalized, normalized)])
        hidden = layers.Dense(64, activation="gelu")(layers.LayerNormalization(epsilon=1e-6)(tokens))
        tokens = layers.Add()([tokens, layers.Dense(32)(hidden)])
    return layers.GlobalAveragePooling1D()(layers.LayerNormalization(epsilon=1e-6)(tokens))


def _wide_depthwise(maps):
    """Large depthwise kernels, normalization over channels and GELU, as in ConvNeXt."""
    maps = layers.LayerNormalization(epsilon=1e-6)(layers.Conv2D(24, 4, 4)(maps))
    for _ in range(2):
        branch = layers.LayerNormalization(epsilon=1e-6)(layers.DepthwiseConv2D(5, padding="same")(maps))
        maps = maps + layers.Dense(24)(layers.Dense(96, activation="gelu")(branch))
    return layers.GlobalAveragePooling2D()(maps)


def _mobile_net(application, **arguments):
    def features(maps):
        backbone = application(
            input_shape=IMAGE_SHAPE, include_top=False, weights=None, pooling="avg", **arguments
        )
        return backbone(maps)

    return features


_PATTERNS = {
    "plain": _plain,
    "residual": _residual,
    "residual_preactivated": _residual_preactivated,
    "dense_blocks": _dense_blocks,
    "inception": _inception,
    "separable": _separable,
    "squeeze_and_excite": _squeeze_and_excite,
    "leaky": _leaky,
    "hourglass": _hourglass,
    "transformer": _transformer,
    "wide_depthwise": _wide_depthwise,
    "mobile_net_v2": _mobile_net(keras.applications.MobileNetV2, alpha=0.35),
    "mobile_net_v3": _mobile_net(
        keras.applications.MobileNetV3Small, alpha=0.75, include_preprocessing=False
    ),
}
