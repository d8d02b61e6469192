"""Weights of a trained model, such as a classifier, for the backbone of a detector or a model of clips."""

import math

import numpy as np

from hsvit_keras.checkpoints.interpolation import interpolate
from hsvit_keras.layers import PositionEmbedding
from hsvit_keras.models.deformable_detr import DeformableDETR
from hsvit_keras.models.timesformer import TimeSformer
from hsvit_runtime.errors import InputError, listed


def load_backbone(detector, model):
    """Gives the backbone of a detector, or a model of clips, the weights of a model of images.

    For a detector, images may have another size: positions of a DeiT are interpolated bilinearly, as An
    Investigation on Hardware-Aware Vision Transformer Scaling does (appendix C).

    Args:
        detector: `DeformableDETR`, whose backbone is changed, or `TimeSformer`, see its `take_weights`.
        model: `keras.Model` with the layers of the backbone, such as `create_model("deit_tiny")`.

    Raises:
        InputError: a layer is missing in `model`, or its weights have other shapes; nothing is changed then.
            Or `detector` is neither of the two.
    """
    if isinstance(detector, TimeSformer):
        detector.take_weights(model)
        return
    if not isinstance(detector, DeformableDETR):
        raise InputError(
            f"{detector.name!r} is neither a DeformableDETR nor a TimeSformer: it has no backbone"
        )
    names = {layer.name for layer in model.layers}
    weights, problems = {}, []
    inside = detector.get_layer("backbone")
    for layer in inside.layers:
        if not layer.weights:
            continue
        if layer.name not in names:
            problems.append(f"{layer.name} is missing")
            continue
        weights[layer] = _weights(layer, inside, model)
        found = [value.shape for value in weights[layer]]
        needed = [tuple(weight.shape) for weight in layer.weights]
        if found != needed:
            problems.append(f"{layer.name} has the shapes {found}, the backbone needs {needed}")
    if problems:
        raise InputError(f"the weights of {model.name!r} do not fit the backbone: {listed(problems)}")
    for layer, values in weights.items():
        layer.set_weights(values)


def _weights(layer, inside, model):
    """The weights of the layer of the same name, positions for the backbone's grid of patches."""
    values = model.get_layer(layer.name).get_weights()
    if not isinstance(layer, PositionEmbedding) or values[0].shape == layer.position.shape:
        return values
    old, new = (owner.get_layer("patch_embedding").output.shape[1:3] for owner in (model, inside))
    leading = len(values[0]) - math.prod(old)  # class tokens
    maps = values[0][leading:].reshape(*old, -1)
    maps = interpolate(maps, new, "bilinear").reshape(-1, maps.shape[-1])
    return [np.concatenate([values[0][:leading], maps])]
