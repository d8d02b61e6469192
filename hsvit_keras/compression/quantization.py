"""Quantization-aware training and quantization after training, as passes over a graph.

`quantize_aware` adds a range to the inputs and outputs of all layers that will compute with integers, and
rounds their weights. The outputs of the model are then those of its integer artifact, in training, too.
`calibrate` sets the ranges without training. A scheme says which layers compute with integers, see
schemes.py.
"""

import warnings

import keras
import numpy as np
from keras import layers

from hsvit_keras.compression.folding import fold_batch_norm, fold_normalization
from hsvit_keras.compression.quantized_layers import RoundedWeights
from hsvit_keras.compression.ranges import ActivationRange, ranges_of
from hsvit_keras.compression.rewriting import Graph, rewrite
from hsvit_keras.compression.schemes import scheme_named
from hsvit_keras.layers import Shift
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.models.registry import suggest
from hsvit_runtime.errors import InputError

# Activations that an artifact computes within the integer layer before them.
_FUSED_ACTIVATIONS = (keras.activations.relu, keras.activations.relu6)


def quantize_aware(model, scheme="int8", skip=()):
    """Makes a trainable model that computes as its integer artifact will.

    Batch normalization and the normalization of pixels are folded first. Activations are not rounded until
    `fit` or `calibrate` has set the ranges.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.
        scheme: `Scheme`, or the name of one: `"int8"`.
        skip: sequence of str, names of layers that are not quantized.

    Returns:
        A `keras.Model` with the same layer names and weights, and a layer `..._range` for each range.

    Raises:
        InputError: `model` is quantized already, is neither Functional nor Sequential, or has no layer that
            the scheme quantizes; or `scheme` or a name in `skip` is unknown.
    """
    scheme = scheme_named(scheme)
    if is_quantized(model):
        raise InputError(f"{model.name!r} is quantized already: remove_quantization returns its float model")
    _check_skip(skip, model)
    graph = Graph(_with_separate_activations(fold_normalization(fold_batch_norm(model)), scheme))
    not_skipped = [layer for layer in graph.model.layers if layer.name not in skip]
    if not any(type(layer) in scheme.integer for layer in not_skipped):
        raise InputError(f"{model.name!r} has no layer that the scheme quantizes; skip={tuple(skip)}")
    _warn_of_unknown(graph, scheme)
    return _with_ranges(graph, scheme, {layer.name for layer in not_skipped})


def calibrate(model, batches):
    """Sets the ranges of a model to those of its activations on some images, without training.

    Args:
        model: `keras.Model`. If it is not quantized yet, it is quantized by the scheme `"int8"` first.
        batches: iterable of arrays `(batch, height, width, channels)`, or of tuples whose first element is
            such an array. A few hundred images of the training set are enough.

    Returns:
        The quantized `keras.Model`; `model` itself if it was quantized before.

    Raises:
        InputError: `batches` is empty, or `model` cannot be quantized.
    """
    model = model if is_quantized(model) else quantize_aware(model)
    ranges = ranges_of(model)
    before = [layer.get_weights() for layer in ranges]
    for layer in ranges:
        layer.reset()
    try:
        observed = _observe(model, ranges, batches)
    except BaseException:
        for layer, weights in zip(ranges, before, strict=True):
            layer.set_weights(weights)
        raise
    for limits in observed:
        for layer, (low, high) in zip(ranges, limits, strict=True):
            layer.observe(low, high)
    return model


def remove_quantization(model):
    """Turns a quantized model into a float model with its trained weights; normalization stays folded.

    Args:
        model: `keras.Model` made by `quantize_aware`. It is not modified.

    Returns:
        A `keras.Model`.

    Raises:
        InputError: `model` is not quantized.
    """
    if not is_quantized(model):
        raise InputError(f"{model.name!r} is not quantized: there is nothing to remove")

    def replace(layer):
        return layer.to_stock() if isinstance(layer, RoundedWeights) else None

    def call(layer, *args, **kwargs):
        return args[0] if isinstance(layer, ActivationRange) else layer(*args, **kwargs)

    return rewrite(model, replace, call)


def is_quantized(model):
    """Whether the model was made by `quantize_aware`."""
    return any(isinstance(layer, ActivationRange | RoundedWeights) for layer in model.layers)


def _with_separate_activations(model, scheme):
    """Moves activations that cannot be computed with integers into `Activation` layers of their own."""
    separate = {
        layer.name: layer.activation
        for layer in model.layers
        if type(layer) in scheme.integer
        and getattr(layer, "activation", None) not in (None, keras.activations.linear, *_FUSED_ACTIVATIONS)
    }

    def replace(layer):
        if layer.name not in separate:
            return None
        return type(layer).from_config({**layer.get_config(), "activation": None})

    def call(layer, *args, **kwargs):
        output = layer(*args, **kwargs)
        if layer.name in separate:
            return layers.Activation(separate[layer.name], name=f"{layer.name}_activation")(output)
        return output

    return rewrite(model, replace, call) if separate else model


def _with_ranges(graph, scheme, names):
    """Quantizes the layers named in `names` and adds the ranges that they need."""
    ranged_names, symmetric = _ranged_layers(graph, scheme, names)
    ranges, known = {}, _known_ranges(graph)

    def ranged(tensor, name):
        if name not in ranged_names:
            return tensor
        if name not in ranges:  # a layer that is called several times has one range
            ranges[name] = ActivationRange(
                name in symmetric,
                scheme.activation_bits,
                scheme.percent,
                scheme.momentum,
                known.get(name),
                name=f"{name}_range",
            )
        return ranges[name](tensor)

    def ranged_input(tensor):
        source = tensor._keras_history.operation if isinstance(tensor, keras.KerasTensor) else None
        return ranged(tensor, source.name) if isinstance(source, layers.InputLayer) else tensor

    def replace(layer):
        quantized_class = scheme.integer.get(type(layer), type(layer))
        if layer.name in names and issubclass(quantized_class, RoundedWeights):
            return quantized_class.from_stock(layer, scheme.weight_bits)
        return None

    def call(layer, *args, **kwargs):
        args = keras.tree.map_structure(ranged_input, args)
        return ranged(layer(*args, **kwargs), layer.name)

    return rewrite(graph.model, replace, call)


def _ranged_layers(graph, scheme, names):
    """Finds the layers whose outputs get a range.

    Args:
        graph: `Graph`.
        scheme: `Scheme`.
        names: set of str, the layers to quantize.

    Returns:
        (set of str, set of str): the names of all layers whose outputs get a range, and of those whose range
        is symmetric.
    """
    ranged_names, symmetric = set(), set()

    def source(layer):
        """The layer that computes the values of `layer`, before those that only move them."""
        while type(layer) in scheme.transparent:
            (layer,) = graph.producers(layer)
        return layer.name

    for layer in graph.model.layers:
        producers = graph.producers(layer)
        if layer.name in names and type(layer) in scheme.integer:
            ranged_names.add(_fused_activation(layer, graph) or layer.name)
            ranged_names.update(map(source, producers))
        symmetric.update(source(producers[i]) for i in scheme.symmetric.get(type(layer), ()))
    return ranged_names, symmetric


def _known_ranges(graph):
    """Ranges that need no calibration: those of pixels, and of pixels minus their mean."""
    pixels = description_of(graph.model).input_range
    if pixels is None:
        return {}
    known = {layer.name: pixels for layer in graph.model.layers if isinstance(layer, layers.InputLayer)}
    for layer in graph.model.layers:
        if isinstance(layer, Shift) and graph.producers(layer)[0].name in known:
            low, high = known[graph.producers(layer)[0].name]
            known[layer.name] = (low + float(np.min(layer.offset)), high + float(np.max(layer.offset)))
    return known


def _fused_activation(layer, graph):
    """The name of the ReLU that an artifact computes within `layer`; None if there is none."""
    consumers = graph.consumers(layer)
    is_read_once = len(consumers) == 1 and not graph.is_output(layer)
    return consumers[0].name if is_read_once and _is_fusible(consumers[0]) else None


def _is_fusible(layer):
    """Whether a layer is a plain ReLU or ReLU6."""
    if isinstance(layer, layers.Activation):
        return layer.activation in _FUSED_ACTIVATIONS
    is_relu = isinstance(layer, layers.ReLU) and not layer.negative_slope and not layer.threshold
    return is_relu and layer.max_value in (None, 6)


def _observe(model, ranges, batches):
    """The limits of each range on each batch, computed while no activation is rounded.

    Returns:
        list of arrays `(ranges, 2)`, one for each batch.
    """
    graph = Graph(model)
    limits = [limit for layer in ranges for limit in layer.limits(_all_values(graph.arguments(layer)))]
    limits_model = keras.Model(model.input, limits)
    observed = []
    for batch in batches:
        images = batch[0] if isinstance(batch, tuple | list) else batch
        observed.append(np.reshape(limits_model.predict_on_batch(np.asarray(images)), (-1, 2)))
    if not observed:
        raise InputError("batches is empty: calibration needs at least one batch of images")
    return observed


def _all_values(tensors):
    """One tensor with the values of all `tensors`, the inputs of all calls of a layer."""
    first, *others = [keras.ops.cast(tensor, "float32") for tensor in tensors]
    if not others:
        return first
    return keras.ops.concatenate([keras.ops.reshape(tensor, (-1,)) for tensor in (first, *others)])


def _check_skip(skip, model):
    if isinstance(skip, str):
        raise InputError(f"skip has to be a sequence of layer names; received the string {skip!r}")
    names = [layer.name for layer in model.layers]
    for name in skip:
        if name not in names:
            raise InputError(
                f"skip names {name!r}, but {model.name!r} has no such layer; {suggest(name, names)}"
            )


def _warn_of_unknown(graph, scheme):
    known = (*scheme.integer, *scheme.transparent, *scheme.floating)
    unknown = [layer for layer in graph.model.operations if type(layer) not in known]
    if unknown:
        names = ", ".join(f"{layer.name} ({type(layer).__name__})" for layer in unknown)
        warnings.warn(
            f"the scheme has no entry for {names}: they stay float. If that is intended, add their classes "
            "to `floating` of a Scheme",
            stacklevel=3,
        )
