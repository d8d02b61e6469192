"""Every registered model in a small form that has all its parts; variants that differ in size alone are one.

A new family is covered by one row of `SIZES`.
"""

import json

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.layers import ClassToken, PositionEmbedding
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.models import registry

NUM_CLASSES = 5
TOKENS = {"hidden_dim": 16, "num_heads": 2, "depth": 2, "mlp_dim": 32}
INVERTED_RESIDUALS = {
    "stem_filters": 8, "filters": (8, 16), "depths": (1, 2), "strides": (1, 2), "expansions": (1, 4),
    "head_filters": 32, "dropout_rate": 0.2,
}  # fmt: skip
XFORMER = {"hidden_dim": 16, "num_heads": 2, "head_dim": 4, "depth": 2}
# What makes a model of each class small.
SIZES = {
    "CompactTransformer": XFORMER,
    "ConvolutionalTransformer": {"hidden_dims": (8, 8, 8), "num_heads": (2, 2, 2), "head_dim": 4},
    "ConvolutionalVisionTransformer": {
        "hidden_dims": (8, 16), "depths": (1, 2), "num_heads": (1, 2), "mlp_ratios": (2, 2),
        "embedding_kernels": (4, 3), "embedding_strides": (4, 2), "embedding_paddings": (2, 1),
    },
    "DHVT": TOKENS,
    "DeformableDETR": {
        "input_shape": (32, 32, 3), "backbone": "resnet18",
        "backbone_arguments": {
            "stem_filters": 8, "filters": (8, 8), "depths": (1, 1), "strides": (1, 2),
        },
        "backbone_features": ("stage0", "stage1"), "num_levels": 3, "hidden_dim": 16, "num_heads": 2,
        "encoder_layers": 1, "decoder_layers": 2, "mlp_dim": 32, "num_queries": 3, "group_norm_groups": 4,
        "dropout_rate": 0.0, "mean": None, "std": None,
    },
    "EfficientNet": {**INVERTED_RESIDUALS, "kernel_sizes": (3, 5), "symmetric_blocks": (1,)},
    "EfficientFormer": {
        "filters": (8, 8), "depths": (1, 2), "transformer_depth": 1, "num_heads": 2, "key_dim": 4,
        "value_ratio": 2, "mlp_ratio": 2, "layer_scale": 0.5,
    },
    "FNet2D": {"hidden_dim": 8, "depth": 2},
    "HSViT": {"attention_groups": 4, "hidden_dim": 16, "num_heads": 4, "depth": 2},
    "HVT": {**TOKENS, "patch_size": 2, "depth": 4},
    "LeViT": XFORMER,
    "MLPMixer": {"hidden_dim": 8, "depth": 2},
    "MobileNetV2": INVERTED_RESIDUALS,
    "MobileViT": {
        "filters": (8, 8, 8, 8), "last_filters": 16, "depths": (1, 2, 1), "expand_ratios": (2, 2, 2),
        "hidden_dims": (8,), "mlp_dims": (16,), "num_heads": 2,
        "input_shape": (24, 40, 3),  # odd in the transformer
    },
    "MobileViTV2": {
        "filters": (8, 8, 8), "depths": (1, 1), "expand_ratios": (2, 2), "hidden_dims": (16,),
        "mlp_dims": (32,), "input_shape": (20, 28, 3),  # odd in front of the transformer
    },
    "PoolingTransformer": {
        "patch_size": 4, "patch_stride": 2, "depths": (1, 1, 1), "num_heads": (1, 2, 4),
        "head_dims": (4, 4, 4),
    },
    "PoolingXFormer": {"hidden_dim": 16, "num_heads": 2, "head_dim": 4, "depths": (1, 1), "mlp_dim": 32},
    "ResNet": {"stem_filters": 8, "filters": (8, 8, 16), "depths": (1, 2, 1), "strides": (1, 2, 2)},
    "SwiftFormer": {"filters": (8, 8), "depths": (2, 1), "mlp_ratio": 2, "layer_scale": 0.5},
    "TimeSformer": {**TOKENS, "patch_size": 8, "input_shape": (3, 16, 24, 3)},
    "UNet": {},
    "VisionTransformer": {**TOKENS, "patch_size": 4, "layer_norm_epsilon": 1e-6},
    "VisionXFormer": {**XFORMER, "mlp_dim": 32},
}  # fmt: skip

# Of keras-cv, whose graphs have no small form: see test_keras_cv_detectors.py.
ELSEWHERE = ("RetinaNet", "YOLOV8")

# Of many convolutions and batch normalizations in turn, and sums of both kinds of branches: with the
# statistics of a fresh model one branch vanishes beside the other.
HYBRIDS = ("ConvolutionalVisionTransformer", "EfficientFormer", "MobileViT", "MobileViTV2", "SwiftFormer")


def _small(name):
    """Input shape and arguments of the small form of a registered model."""
    variant = registry._VARIANTS[name]
    arguments = variant.arguments(variant.input_shape)
    arguments = {**arguments, **SIZES[variant.model_class.__name__]}
    side = 32 if arguments.get("patch_size") == 16 else 16
    input_shape = arguments.pop("input_shape", (side, side, 3))
    if "filters" in arguments:
        arguments["filters"] = (8,) * (len(arguments["filters"]) - 1) + (16,)
    if arguments.get("pool_every"):
        arguments["pool_every"] = 2
    if arguments.get("attention_arguments"):
        arguments["attention_arguments"] = dict.fromkeys(arguments["attention_arguments"], 8)
    return input_shape, arguments


def _different():
    """One name for each small form; the first in the order of `list_models`."""
    forms = {}
    for name in hsvit_keras.list_models():
        if registry._VARIANTS[name].model_class.__name__ in ELSEWHERE:
            continue
        form = registry._VARIANTS[name].model_class.__name__, *_small(name)
        forms.setdefault(json.dumps(form, sort_keys=True), name)
    return sorted(forms.values())


def _one_a_class(names):
    return list({registry._VARIANTS[name].model_class: name for name in names}.values())


# JAX compiles each operation of each size apart, which takes many seconds a model: there, one of each class.
MODELS = _one_a_class(_different()) if keras.backend.backend() == "jax" else _different()


def each_kind():
    """`MODELS` for a test; slow are those whose class and whose attention others have, too."""
    kinds = {name: _kind(name) for name in MODELS}
    fast, seen = set(), set()
    # First those of a new class with a new attention, so that few models show all.
    for is_new in (set.isdisjoint, lambda kind, seen: not kind <= seen):
        for name, kind in kinds.items():
            if is_new(kind, seen):
                fast.add(name)
                seen |= kind
    for name in MODELS:
        yield _parameter(name, None if name in fast else pytest.mark.slow)


def a_few():
    """`MODELS` for a test that converts: plain, in groups, without attention; the others are exhaustive.

    Detectors, which have two outputs, are converted in test_detectors.py.
    """
    fast = ("deit_base", "fnet2d", "hsvit_c2a2")
    names = [name for name in MODELS if not name.startswith("deformable_detr")]
    return [_parameter(name, None if name in fast else pytest.mark.exhaustive) for name in names]


def _kind(name):
    """What a model has of its class and of its attention."""
    variant = registry._VARIANTS[name]
    return {variant.model_class, variant.arguments(variant.input_shape).get("attention")}


def _parameter(name, mark=None):
    """The tests of one model share it, so with `--dist=loadgroup` they run in one process."""
    marks = [pytest.mark.xdist_group(name), *([mark] if mark else [])]
    return pytest.param(name, marks=marks)


def small_model(name, **overrides):
    """The small form of a registered model.

    Args:
        name: str, one of `MODELS`.
        **overrides: arguments of `create_model`.
    """
    input_shape, arguments = _small(name)
    settings = {"input_shape": input_shape, "num_classes": NUM_CLASSES, **arguments, **overrides}
    model = hsvit_keras.create_model(name, **settings)
    if isinstance(model, hsvit_keras.DeformableDETR):
        _set_zero_kernels(model)
    return model


def _set_zero_kernels(model):
    """Sets kernels that are zero at first, behind which nothing would depend on the image or learn."""
    rng = np.random.default_rng(0)
    for layer in model.layers:
        if isinstance(layer, keras.layers.Dense):
            kernel, *bias = layer.get_weights()
            layer.set_weights([kernel if kernel.any() else 0.2 * rng.normal(size=kernel.shape), *bias])


def grown_model(name, **overrides):
    """`small_model` as if it were trained.

    Its class tokens and positions are as large as its other tokens, and the batch normalizations of `HYBRIDS`
    normalize.
    """
    model = small_model(name, **overrides)
    if type(model).__name__ in HYBRIDS:
        _set_statistics(model)
    for layer in model.layers:
        if isinstance(layer, ClassToken | PositionEmbedding):
            rng = np.random.default_rng(0)
            layer.set_weights([rng.normal(size=weight.shape) for weight in layer.get_weights()])
    return model


def _set_statistics(model):
    """Sets the statistics of batch normalizations to those of random images."""
    norms = [layer for layer in model.layers if isinstance(layer, keras.layers.BatchNormalization)]
    if norms:
        for norm in norms:
            norm.momentum, momentum = 0.0, norm.momentum
        rng, shape = np.random.default_rng(0), (16, *model.input_shape[1:])
        takes_pixels = description_of(model).input_range is not None
        model(rng.uniform(0, 255, shape) if takes_pixels else rng.normal(size=shape), training=True)
        for norm in norms:
            norm.momentum = momentum
