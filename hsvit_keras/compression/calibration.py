"""Ranges of a quantized model from data, without training."""

import dataclasses

import numpy as np
from keras import ops

from hsvit_keras.compression import range_estimation
from hsvit_keras.compression.bias_correction import correct_biases
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.model_inputs import inputs_of_batch, named_inputs, structured
from hsvit_keras.compression.probing import Probe
from hsvit_keras.compression.quantization import is_quantized, quantize_aware
from hsvit_keras.compression.ranges import ranges_of
from hsvit_runtime.errors import InputError
from hsvit_runtime.presets import RANGE_METHODS


@dataclasses.dataclass(frozen=True)
class Calibration:
    """How a conversion sets the ranges of a model that was not trained with them.

    Attributes:
        batches: iterable of inputs, see `calibrate`.
        ranges: str, see `calibrate`.
        equalizes: bool, whether `equalize` comes first; for a model without ranges.
        corrects_biases: bool, whether `correct_biases` comes last; for a model without ranges, since training
            with ranges has made the biases fit.
    """

    batches: object
    ranges: str = "extremes"
    equalizes: bool = False
    corrects_biases: bool = True


def calibrate(model, batches, ranges="extremes", corrects_biases=False):
    """Sets the ranges of a model to those of its activations on some inputs, without training.

    Args:
        model: `keras.Model`. If it is not quantized yet, it is quantized by the scheme `"int8"` first.
        batches: iterable of inputs as `fit` takes them: an array `(batch, ...)`, a list or a dict of an array
            for each input, or a tuple of these and of targets, which are ignored. A few hundred images of
            the training set are enough.
        ranges: str, how a range is found: "extremes", the smallest and the largest value of all; "mean", the
            mean of those of each batch; "least_error", the range with the smallest squared error of rounding
            and clipping; "entropy", that whose rounded values are distributed most as the values are.
        corrects_biases: bool, whether to correct the biases afterwards, see `correct_biases`.

    Returns:
        The quantized `keras.Model`; `model` itself if it was quantized before.

    Raises:
        InputError: `ranges` is unknown, `batches` is empty or does not fit the inputs, an activation is
            infinite or not a number, or `model` cannot be quantized.
    """
    if ranges not in RANGE_METHODS:
        raise InputError(f"ranges has to be one of {', '.join(RANGE_METHODS)}; received ranges={ranges!r}")
    model = model if is_quantized(model) else quantize_aware(model)
    layers = ranges_of(model)
    before = [layer.get_weights() for layer in layers]
    for layer in layers:
        layer.reset()
    try:
        batches = _prepared(model, batches)
        found = _limits(model, layers, batches, ranges)
    except BaseException:
        for layer, weights in zip(layers, before, strict=True):
            layer.set_weights(weights)
        raise
    for layer, (low, high) in zip(layers, found, strict=True):
        layer.set_range(low, high, len(batches))
    if corrects_biases:
        correct_biases(model, batches)
    return model


def _prepared(model, batches):
    """The batches as a list of what the model takes."""
    prepared = [
        structured(model, named_inputs(model, inputs_of_batch(model, batch), "batches")) for batch in batches
    ]
    if not prepared:
        raise InputError("batches is empty: calibration needs at least one batch of inputs")
    return prepared


def _limits(model, layers, batches, method):
    """The limits of each range, computed while no activation is rounded: array `(ranges, 2)`."""
    probe = Probe(model, layers, lambda layer, outputs: ops.stack(layer.limits(_all_values(outputs))))
    observed = np.stack([np.reshape(probe.predict_on_batch(batch), (-1, 2)) for batch in batches])
    _check_finite(model, layers, observed)
    if method == "mean":
        return observed.mean(0)
    extremes = np.stack([observed[..., 0].min(0), observed[..., 1].max(0)], -1)
    if method == "extremes":
        return extremes
    counts = _histograms(model, layers, batches, extremes)
    estimate = range_estimation.METHODS[method]
    return [
        estimate(*histogram, layer.bits) for layer, *histogram in zip(layers, counts, extremes, strict=True)
    ]


def _histograms(model, layers, batches, extremes):
    """How many values of each range are in each of the bins between its extremes: array `(ranges, bins)`."""
    bounds, bins = dict(zip(layers, extremes, strict=True)), range_estimation.BINS

    def count(layer, outputs):
        low, high = bounds[layer]
        share = (ops.reshape(_all_values(outputs), (-1,)) - low) / max(high - low, 1e-12)
        places = ops.clip(ops.cast(share * bins, "int32"), 0, bins - 1)
        return ops.segment_sum(ops.ones_like(share), places, num_segments=bins)

    probe = Probe(model, layers, count)
    return sum(np.reshape(probe.predict_on_batch(batch), (-1, bins)).astype("float64") for batch in batches)


def _all_values(tensors):
    """One tensor with the values of all `tensors`, the outputs of all calls of a layer."""
    first, *others = [ops.cast(tensor, "float32") for tensor in tensors]
    if not others:
        return first
    return ops.concatenate([ops.reshape(tensor, (-1,)) for tensor in (first, *others)])


def _check_finite(model, layers, observed):
    """Raises `InputError` if a layer gave infinity or NaN, which have no place in a range."""
    infinite = np.flatnonzero(~np.isfinite(observed).all(axis=(0, 2)))
    if len(infinite):
        graph = Graph(model)
        first = ", ".join(repr(graph.path(source)) for source in graph.producers(layers[infinite[0]]))
        raise InputError(f"{first} gives infinity or NaN for these batches: such outputs have no range")
