"""Whether an artifact computes what its Keras model computes, on the same inputs."""

import numpy as np

from hsvit_keras.artifacts.keras_model import input_name
from hsvit_runtime.errors import InputError


def made_up_inputs(model, description, count, seed=0):
    """Random inputs of a model, for a comparison without data.

    Args:
        model: `keras.Model`.
        description: `Description` of it; pixels are drawn from its range, other floats from a normal
            distribution.
        count: int, samples.
        seed: int.

    Returns:
        dict from an input's name to an array (count, ...).
    """
    rng, inputs = np.random.default_rng(seed), {}
    for tensor in model.inputs:
        shape = (count, *tensor.shape[1:])
        if description.input_range is not None:
            inputs[input_name(tensor)] = (
                rng.uniform(*description.input_range, shape).round().astype("float32")
            )
        else:
            inputs[input_name(tensor)] = rng.standard_normal(shape).astype("float32")
    return inputs


def compare(task, expected, artifact, inputs, labels=None, *, expected_probabilities=False):
    """How near the outputs of a Keras model and of its artifact are.

    Args:
        task: `hsvit_keras.tasks.Task`.
        expected: dict from name to array (count, ...), the model's outputs.
        artifact: `hsvit_runtime.runnable.Runnable`.
        inputs: dict from an input's name to an array (count, ...).
        labels: array (count, ...) of the data set's labels, where they are the model's own; None without.
        expected_probabilities: bool, whether a softmax stands behind the model's own logits.

    Returns:
        dict with what `task.compare` tells, and `metrics`, what `task.evaluate` tells of the artifact.
    """
    outputs = artifact.predict(inputs)
    compared = compare_outputs(
        task,
        expected,
        outputs,
        are_probabilities=(expected_probabilities, artifact.description.probabilities),
        steps=[tensor.scale for tensor in artifact.outputs],
    )
    return {**compared, "metrics": {} if labels is None else task.evaluate(outputs, labels)}


def compare_outputs(task, expected, outputs, *, are_probabilities=(False, False), steps=()):
    """How near outputs of two models are, each of which may be logits or probabilities.

    Args:
        task: `hsvit_keras.tasks.Task`.
        expected: dict from name to array (count, ...), the original's.
        outputs: dict likewise.
        are_probabilities: pair of bool, whether a softmax stands behind the logits of each.
        steps: sequence of float, the scales of integer outputs; None for other outputs.

    Returns:
        dict of `task.compare`.
    """
    of_expected, of_outputs = are_probabilities
    step = max((step for step in steps if step), default=None) if any(are_probabilities) else None
    return task.compare(
        task.comparable(expected, of_expected, step), task.comparable(outputs, of_outputs, step)
    )


def check(parity, limits):
    """Raises `InputError` if an artifact computes something else than the model it was made from.

    Args:
        parity: dict of `compare`.
        limits: dict, see `hsvit_runtime.presets.Preset`.
    """
    scale = max(1.0, parity["largest_output"])
    far = "max_abs_diff" in limits and not parity["max_abs_diff"] <= limits["max_abs_diff"] * scale
    askew = "cosine" in limits and not parity["cosine"] >= limits["cosine"]
    if far or askew:
        raise InputError(
            f"the artifact does not compute what Keras does: max_abs_diff {parity['max_abs_diff']:.3g}, "
            f"cosine {parity['cosine']:.6f} on {parity['samples']} samples; limits {limits}. "
            "Nothing was written"
        )
