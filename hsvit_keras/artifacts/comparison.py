"""Whether an artifact computes what its Keras model computes, on the same inputs."""

import numpy as np

from hsvit_keras.compression.model_inputs import input_name
from hsvit_runtime.errors import InputError


def made_up_inputs(model, description, count, seed=0):
    """Random inputs of a model, for a comparison without data.

    Args:
        model: `keras.Model`.
        description: `Description` of it; pixels are drawn from its range, other floats from a normal
            distribution, integers are 0 or 1.
        count: int, samples.
        seed: int.

    Returns:
        dict from an input's name to an array (count, ...).
    """
    rng, inputs = np.random.default_rng(seed), {}
    for tensor in model.inputs:
        shape = (count, *tensor.shape[1:])
        if "float" not in tensor.dtype:
            inputs[input_name(tensor)] = rng.integers(0, 2, shape).astype(tensor.dtype)
        elif description.input_range is not None:
            inputs[input_name(tensor)] = (
                rng.uniform(*description.input_range, shape).round().astype("float32")
            )
        else:
            inputs[input_name(tensor)] = rng.standard_normal(shape).astype("float32")
    return inputs


def compare(task, expected, outputs, artifact, labels=None, *, expected_probabilities=False):
    """How near the outputs of a Keras model and of its artifact are.

    Args:
        task: `hsvit_keras.tasks.Task`.
        expected: dict from name to array (count, ...), the model's outputs.
        outputs: dict likewise, the artifact's.
        artifact: `hsvit_runtime.runnable.Runnable`.
        labels: array (count, ...) of the data set's labels, where they are the model's own; None without.
        expected_probabilities: bool, whether the model itself makes probabilities of its logits.

    Returns:
        dict with what `task.compare` tells, and `metrics`, what `task.evaluate` tells of the artifact.
    """
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


def check(parity, limits, remedy=""):
    """Raises `InputError` if an artifact computes something else than the model it was made from.

    Args:
        parity: dict of `compare_outputs`.
        limits: dict, see `hsvit_runtime.presets.Preset`.
        remedy: str, what the user may do about it.
    """
    if not _keeps(parity, limits):
        raise InputError(
            f"the artifact does not compute what Keras does: {_told(parity, limits)}. Nothing was "
            f"written{remedy}"
        )


def is_as_near(parity, simulated):
    """Whether an artifact is as near to the model that was handed in as its quantized Keras model is.

    Rounding of rounded values grows in deep models of small numbers, so that two ways of rounding differ as
    much from each other as both do from the float model.

    Args:
        parity: dict of `compare_outputs`, of the artifact and the model that was handed in.
        simulated: dict likewise, of the quantized Keras model and that model.
    """
    is_aligned = 1 - parity["cosine"] <= 1.1 * (1 - simulated["cosine"])
    return is_aligned and parity["alike"] >= simulated["alike"]


def check_with_original(parity, limits, remedy=""):
    """Raises `InputError` if an artifact says something else than the model that was handed in.

    Args:
        parity: dict of `compare_outputs`.
        limits: dict, see `hsvit_runtime.presets.Preset`.
        remedy: str, what else the user may do about it.
    """
    if not _keeps(parity, limits):
        raise InputError(
            f"the artifact says something else than the model that was handed in: {_told(parity, limits)}. "
            "Nothing was written: calibrate it on other data, such as it will see, or train it with "
            f"hsvit_keras.quantize_aware{remedy}"
        )


def _keeps(parity, limits):
    scale = max(1.0, parity["largest_output"])
    near = parity["max_abs_diff"] <= limits.get("max_abs_diff", np.inf) * scale
    # Written so that NaN is refused.
    return near and all(parity[name] >= limits[name] for name in ("cosine", "alike") if name in limits)


def _told(parity, limits):
    return (
        f"max_abs_diff {parity['max_abs_diff']:.3g}, cosine {parity['cosine']:.6f}, "
        f"{parity['alike']:.1%} alike on {parity['samples']} samples; limits {limits}"
    )
