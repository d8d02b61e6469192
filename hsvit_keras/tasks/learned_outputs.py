"""The one tensor of a detector that its loss reads: `(batch, layers, queries, classes + 4)`."""

import keras
from keras import layers

from hsvit_keras.models.deformable_transformer import has_decoder, with_auxiliary_outputs
from hsvit_keras.tasks.detections import check_names
from hsvit_runtime.errors import InputError


def learner(model):
    """A model over the layers of a detector, from its images to logits and boxes of all decoder layers.

    Args:
        model: `keras.Model` with the outputs `logits` and `boxes`; what earlier layers of a decoder say is
            learned besides, see `hsvit_keras.with_auxiliary_outputs`.

    Returns:
        `keras.Model` to a Tensor `(batch, layers, queries, classes + 4)`, the last layer last.

    Raises:
        InputError: the model is no detector.
    """
    outputs = getattr(model, "output", None)
    if not isinstance(outputs, dict):
        raise InputError(f"{model.name} has to give a dict of logits and boxes to learn detection")
    check_names(outputs)
    if has_decoder(model):
        outputs = with_auxiliary_outputs(model).output
    suffixes = [name.removeprefix("logits") for name in outputs if name.startswith("logits_")]
    suffixes = [*sorted(suffixes, key=lambda suffix: int(suffix[1:])), ""]
    joined = [_joined(outputs[f"logits{suffix}"], outputs[f"boxes{suffix}"], suffix) for suffix in suffixes]
    if len(joined) > 1:
        joined = [layers.Concatenate(axis=1, dtype="float32", name="learned_layers")(joined)]
    return keras.Model(model.input, joined[0], name=f"{model.name}_learner")


def _joined(logits, boxes, suffix):
    joined = layers.Concatenate(dtype="float32", name=f"learned{suffix}_pair")([logits, boxes])
    return layers.Reshape((1, *joined.shape[1:]), dtype="float32", name=f"learned{suffix}")(joined)
