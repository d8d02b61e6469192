"""The one tensor of a detector that its loss reads: `(batch, layers, queries, classes + 4)`."""

import keras
from keras import layers

from hsvit_keras.tasks.detections import check_names
from hsvit_runtime.errors import InputError


def learner(model):
    """A model over the layers of a detector, from its images to logits and boxes of all decoder layers.

    Args:
        model: `keras.Model` with the outputs `logits` and `boxes`. One with a method
            `with_auxiliary_outputs` gives by it a model that has those of its earlier decoder layers besides,
            as `logits_0`, `boxes_0` and so on.

    Returns:
        `keras.Model` to a Tensor `(batch, layers, queries, classes + 4)`, the last layer last.

    Raises:
        InputError: the model is no detector.
    """
    outputs = model.output
    if not isinstance(outputs, dict):
        raise InputError(f"{model.name} has to give a dict of logits and boxes to be trained for detection")
    check_names(outputs)
    outputs = _all_outputs(model)
    suffixes = [name.removeprefix("logits") for name in outputs if name.startswith("logits_")]
    suffixes = [*sorted(suffixes, key=lambda suffix: int(suffix[1:])), ""]
    joined = [_joined(outputs[f"logits{suffix}"], outputs[f"boxes{suffix}"], suffix) for suffix in suffixes]
    if len(joined) > 1:
        joined = [layers.Concatenate(axis=1, dtype="float32", name="learned")(joined)]
    return keras.Model(model.input, joined[0], name=f"{model.name}_learner")


def _all_outputs(model):
    with_auxiliary = getattr(model, "with_auxiliary_outputs", None)
    return model.output if with_auxiliary is None else with_auxiliary().output


def _joined(logits, boxes, suffix):
    joined = layers.Concatenate(dtype="float32", name=f"learned{suffix}_pair")([logits, boxes])
    return layers.Reshape((1, *joined.shape[1:]), dtype="float32", name=f"learned{suffix}")(joined)
