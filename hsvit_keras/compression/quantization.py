"""Quantization-aware training, and quantization after training, as passes over a graph.

`quantize_aware` puts ranges behind what integer layers read and make, and rounds their weights: the model
then answers, and trains, as its integer artifact will answer. `calibrate` sets the ranges without training.
Which layers these are is said by a scheme, see schemes.py.
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

# Activations that an artifact computes within the layer in front of them.
_WITHIN_INTEGERS = (keras.activations.relu, keras.activations.relu6)


def quantize_aware(model, scheme="int8", skip=()):
    """A model that computes as its integer artifact will, and can be trained so.

    Batch normalization, and that of pixels, is folded first. Until `fit` or `calibrate` has set the ranges,
    activations are not rounded.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It stays as it is.
        scheme: `Scheme`, or the name of one: `"int8"`.
        skip: sequence of str, names of layers that stay float.

    Returns:
        A `keras.Model` with the same layer names and weights, and a layer `..._range` for each range.

    Raises:
        ValueError: `model` is quantized already or has no graph that could be followed, there is no such
            scheme or layer to skip, or nothing in the model that the scheme quantizes.
    """
    scheme = scheme_named(scheme)
    if is_quantized(model):
        raise InputError(
            f"{model.name!r} is quantized already: remove_quantization gives its float model back"
        )
    _check_skip(skip, model)
    graph = Graph(_with_activations_apart(fold_normalization(fold_batch_norm(model)), scheme))
    wanted = [layer for layer in graph.model.layers if layer.name not in skip]
    if not any(type(layer) in scheme.integer for layer in wanted):
        raise InputError(f"{model.name!r} has no layer that the scheme quantizes; skip={tuple(skip)}")
    _warn_of_unknown(graph, scheme)
    return _with_ranges(graph, scheme, {layer.name for layer in wanted})


def calibrate(model, batches):
    """Sets the ranges of a model from what its layers give on some images, without training.

    Args:
        model: `keras.Model`; one that is not quantized yet is made so by the scheme `"int8"`.
        batches: iterable of arrays `(batch, height, width, channels)`, or of tuples whose first element is
            such an array. A few hundred images of the training set are enough.

    Returns:
        A quantized `keras.Model`: the same one if it was quantized before.

    Raises:
        ValueError: there are no batches, or `model` cannot be quantized.
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
    """The float graph of a quantized model, with its trained weights; batch normalization stays folded.

    Args:
        model: `keras.Model` made by `quantize_aware`. It stays as it is.

    Returns:
        A `keras.Model`.

    Raises:
        ValueError: `model` is not quantized.
    """
    if not is_quantized(model):
        raise InputError(f"{model.name!r} is not quantized: there is nothing to remove")

    def replace(layer):
        return layer.to_stock() if isinstance(layer, RoundedWeights) else None

    def call(layer, *args, **kwargs):
        return args[0] if isinstance(layer, ActivationRange) else layer(*args, **kwargs)

    return rewrite(model, replace, call)


def is_quantized(model):
    """Whether `quantize_aware` made the model."""
    return any(isinstance(layer, ActivationRange | RoundedWeights) for layer in model.layers)


def _with_activations_apart(model, scheme):
    """Activations that integers do not have become layers behind those whose argument they were."""
    apart = {
        layer.name: layer.activation
        for layer in model.layers
        if type(layer) in scheme.integer
        and getattr(layer, "activation", None) not in (None, keras.activations.linear, *_WITHIN_INTEGERS)
    }

    def replace(layer):
        if layer.name not in apart:
            return None
        return type(layer).from_config({**layer.get_config(), "activation": None})

    def call(layer, *args, **kwargs):
        answer = layer(*args, **kwargs)
        if layer.name in apart:
            return layers.Activation(apart[layer.name], name=f"{layer.name}_activation")(answer)
        return answer

    return rewrite(model, replace, call) if apart else model


def _with_ranges(graph, scheme, wanted):
    """The graph with quantized layers for those named in `wanted`, and the ranges that they need."""
    sites, symmetric = _sites(graph, scheme, wanted)
    ranges, known = {}, _known_ranges(graph)

    def ranged(tensor, name):
        if name not in sites:
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
        stand_in = scheme.integer.get(type(layer), type(layer))
        if layer.name in wanted and issubclass(stand_in, RoundedWeights):
            return stand_in.from_stock(layer, scheme.weight_bits)
        return None

    def call(layer, *args, **kwargs):
        args = keras.tree.map_structure(ranged_input, args)
        return ranged(layer(*args, **kwargs), layer.name)

    return rewrite(graph.model, replace, call)


def _sites(graph, scheme, wanted):
    """Names of the layers behind which a range stands, and of those whose range is symmetric."""
    sites, symmetric = set(), set()

    def source(layer):
        while type(layer) in scheme.transparent:
            (layer,) = graph.producers(layer)
        return layer.name

    for layer in graph.model.layers:
        producers = graph.producers(layer)
        if layer.name in wanted and type(layer) in scheme.integer:
            sites.add(_fused_activation(layer, graph) or layer.name)
            sites.update(map(source, producers))
        symmetric.update(source(producers[i]) for i in scheme.symmetric.get(type(layer), ()))
    return sites, symmetric


def _known_ranges(graph):
    """The ranges that need no observation: of pixels, and of pixels less their mean."""
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
    """The name of a ReLU that the artifact computes within the layer in front of it."""
    consumers = graph.consumers(layer)
    alone = len(consumers) == 1 and not graph.is_output(layer)
    return consumers[0].name if alone and _is_fusible(consumers[0]) else None


def _is_fusible(layer):
    """Whether a layer is a plain ReLU, or one that ends at 6."""
    if isinstance(layer, layers.Activation):
        return layer.activation in _WITHIN_INTEGERS
    plain = isinstance(layer, layers.ReLU) and not layer.negative_slope and not layer.threshold
    return plain and layer.max_value in (None, 6)


def _observe(model, ranges, batches):
    """The limits of each range on each batch, while nothing is rounded to a range."""
    graph = Graph(model)
    limits = [limit for layer in ranges for limit in layer.limits(_all_values(graph.arguments(layer)))]
    observer = keras.Model(model.inputs, limits)
    observed = []
    for batch in batches:
        images = batch[0] if isinstance(batch, tuple | list) else batch
        observed.append(np.reshape(observer.predict_on_batch(np.asarray(images)), (-1, 2)))
    if not observed:
        raise InputError("batches is empty: there is nothing to take the ranges from")
    return observed


def _all_values(tensors):
    """The values of one tensor, or of those of all calls of a layer."""
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
                f"skip names a layer {name!r} that {model.name!r} does not have; {suggest(name, names)}"
            )


def _warn_of_unknown(graph, scheme):
    known = (*scheme.integer, *scheme.transparent, *scheme.floating)
    unknown = [layer for layer in graph.model.operations if type(layer) not in known]
    if unknown:
        names = ", ".join(f"{layer.name} ({type(layer).__name__})" for layer in unknown)
        warnings.warn(
            f"the scheme knows nothing of {names}: they stay float. Where that is right, name their classes "
            "in the `floating` of a Scheme",
            stacklevel=3,
        )
