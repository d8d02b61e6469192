"""The models of timm that differ from ours in names alone, and how each prepares pictures.

What `pretrained_cfg` of timm 1.0.31 says of the weights that a name stands for without a tag.
"""

import dataclasses
from collections.abc import Callable

from hsvit_keras.checkpoints import deit, resnet
from hsvit_keras.checkpoints.timm import efficientformer, inverted_residuals, mobilevit, pit, swiftformer
from hsvit_keras.models import efficientnet, mobilenet_v2

_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
_HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
_PLAIN = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


@dataclasses.dataclass(frozen=True)
class Variant:
    """One model of timm.

    Attributes:
        model: str, the nearest of our registered models.
        arguments: dict, in which it differs from that.
        load: function `(model, tensors)` that sets the weights.
        head: str, the module of its head, of the first of two.
        side: int, of the square images that it was trained or is tested at.
        crop: float, the side over the shorter side of the picture that its centre is cut out of.
        pixels: (mean, std) of each channel.
        grid: (height, width) of the map of tokens that its positions are for, or None where it has none.
    """

    model: str
    arguments: dict
    load: Callable
    head: str
    side: int
    crop: float
    pixels: tuple = _IMAGENET
    grid: tuple | None = None


def _resnets():
    depths = {
        "resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3), "resnet50": (3, 4, 6, 3),
        "resnet101": (3, 4, 23, 3), "resnet152": (3, 8, 36, 3),
    }  # fmt: skip
    for name, blocks in depths.items():
        ours = "resnet18" if name in ("resnet18", "resnet34") else "resnet50"
        yield name, Variant(ours, {"depths": blocks}, resnet.load, "fc", 224, 0.95)


def _mobilenets():
    for percent in (35, 50, 75, 100, 140):
        arguments = {
            **mobilenet_v2.scaled_widths(percent / 100), "padding": "symmetric", "batch_norm_epsilon": 1e-5,
            "residual_in_first_block": True,
        }  # fmt: skip
        variant = Variant("mobilenet_v2_100", arguments, inverted_residuals.load, "classifier", 224, 0.875)
        yield f"mobilenetv2_{percent:03}", variant


def _efficientnets():
    """Those of timm's own training, and those of the authors, whose convolutions pad as TensorFlow's."""
    factors = (
        (1.0, 1.0), (1.0, 1.1), (1.1, 1.2), (1.2, 1.4), (1.4, 1.8), (1.6, 2.2), (1.8, 2.6), (2.0, 3.1),
    )  # fmt: skip
    own = ((224, 0.875), (240, 0.9), (256, 0.875), (288, 0.875), (320, 0.875))
    authors = (
        (224, 0.875), (240, 0.882), (260, 0.89), (300, 0.904), (380, 0.922), (456, 0.934), (528, 0.942),
        (600, 0.949),
    )  # fmt: skip
    forms = {
        "": (own, {"padding": "symmetric", "batch_norm_epsilon": 1e-5}),
        "tf_": (authors, {"padding": "same", "batch_norm_epsilon": 1e-3}),
    }
    for prefix, (sizes, form) in forms.items():
        for number, (side, crop) in enumerate(sizes):
            name = f"{prefix}efficientnet_b{number}"
            arguments = {
                **efficientnet.scaled(*factors[number]), **form, "symmetric_blocks": (),
                "residual_in_first_blocks": True,
            }  # fmt: skip
            pixels = _HALF if name == "efficientnet_b1" else _IMAGENET
            yield (
                name,
                Variant(
                    "efficientnet_b0", arguments, inverted_residuals.load, "classifier", side, crop, pixels
                ),
            )


def _vision_transformers():
    sizes = {"tiny": (192, 12, 3), "small": (384, 12, 6), "base": (768, 12, 12), "large": (1024, 24, 16)}
    names = (
        *(f"vit_{size}_patch16_{side}" for size in sizes for side in (224, 384)),
        *(f"vit_{size}_patch32_{side}" for size in ("small", "base") for side in (224, 384)),
        "vit_base_patch8_224",
        *(f"deit_{size}{form}_patch16_224" for size in tuple(sizes)[:3] for form in ("", "_distilled")),
        "deit_base_patch16_384", "deit_base_distilled_patch16_384",
    )  # fmt: skip
    for name in names:
        family, size, *form, patch, side = name.split("_")
        (dim, depth, heads), patch, side = sizes[size], int(patch.removeprefix("patch")), int(side)
        arguments = {
            "hidden_dim": dim, "depth": depth, "num_heads": heads, "mlp_dim": 4 * dim, "patch_size": patch,
            "distilled": form == ["distilled"],
        }  # fmt: skip
        yield name, Variant(
            "deit_tiny", arguments, deit.load, "head", side, 0.9 if side == 224 else 1.0,
            _HALF if family == "vit" else _IMAGENET, (side // patch,) * 2,
        )  # fmt: skip


def _mobilevits():
    smallest = {
        "filters": (16, 16, 24, 48, 64, 80), "last_filters": 320, "expand_ratios": (2,) * 5,
        "hidden_dims": (64, 80, 96), "mlp_dims": (128, 160, 192),
    }  # fmt: skip
    for name, ours, arguments in (
        ("mobilevit_xxs", "mobilevit_xs", smallest),
        ("mobilevit_xs", "mobilevit_xs", {}),
        ("mobilevit_s", "mobilevit_s", {}),
    ):
        yield name, Variant(ours, arguments, mobilevit.load, "head.fc", 256, 0.9, _PLAIN)


def _efficientformers():
    largest = {"filters": (96, 192, 384, 768), "depths": (6, 6, 18, 8), "transformer_depth": 8}
    for size, ours, sizes in (("l1", "l1", {}), ("l3", "l3", {}), ("l7", "l3", largest)):
        arguments = {**sizes, "layer_norm_epsilon": 1e-5}
        yield (
            f"efficientformer_{size}",
            Variant(
                f"efficientformer_{ours}", arguments, efficientformer.load, "head", 224, 0.95, grid=(7, 7)
            ),
        )


def _swiftformers():
    larger = {
        "l1": {"filters": (48, 96, 192, 384), "depths": (4, 3, 10, 5)},
        "l3": {"filters": (64, 128, 320, 512), "depths": (4, 4, 12, 6)},
    }
    for size in ("xs", "s", "l1", "l3"):
        ours, sizes = ("xs", larger[size]) if size in larger else (size, {})
        arguments = {**sizes, "weighted_queries": True}
        yield (
            f"swiftformer_{size}",
            Variant(f"swiftformer_{ours}", arguments, swiftformer.load, "head", 224, 0.95),
        )


def _pits():
    for size in ("ti", "xs", "s", "b"):
        for form in ("", "_distilled"):
            grid = (31, 31) if size == "b" else (27, 27)
            yield (
                f"pit_{size}{form}_224",
                Variant(f"pit_{size}{form}", {}, pit.load, "head", 224, 0.9, grid=grid),
            )


VARIANTS = dict(
    pair
    for family in (
        _resnets, _mobilenets, _efficientnets, _vision_transformers, _mobilevits, _efficientformers,
        _swiftformers, _pits,
    )
    for pair in family()
)  # fmt: skip
