"""Quantization as a pass over a graph, and back.

`quantize_aware` adds a range to the inputs and outputs of all layers that will compute with integers, and
rounds their weights. The outputs of the model are then those of its integer artifact, in training, too.
Training sets the ranges, or `calibrate`, see calibration.py. A scheme says which layers compute with
integers, see schemes.py and integer_parts.py.
"""

import warnings

import keras
import numpy as np
from keras import layers

from hsvit_keras.compression import einsum
from hsvit_keras.compression.equality import checked
from hsvit_keras.compression.folding import fold_batch_norm, fold_normalization
from hsvit_keras.compression.graph import Graph, check_float, is_named, layers_inside
from hsvit_keras.compression.integer_parts import FIXED_RANGES, FUSED_ACTIVATIONS, IntegerParts
from hsvit_keras.compression.opening import open_layers
from hsvit_keras.compression.quantized_layers import RoundedWeights
from hsvit_keras.compression.ranges import ActivationRange
from hsvit_keras.compression.rewriting import config_of, rewrite
from hsvit_keras.compression.schemes import kind_of, scheme_named
from hsvit_keras.layers import Shift
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.models.registry import suggest
from hsvit_runtime.errors import InputError


def quantize_aware(model, scheme="int8", skip=(), check=True):
    """Makes a trainable model that computes as its integer artifact will.

    Batch normalization and the normalization of pixels are folded first, and Keras' attention layers are
    opened, see `open_layers`. Activations are not rounded until `fit` or `calibrate` has set the ranges.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.
        scheme: `Scheme`, or the name of one: `"int8"`.
        skip: sequence of str, names of layers that are not quantized; "backbone/conv" is the layer "conv" of
            a model "backbone" inside the model, and "backbone" all of them. What it names is not opened.
        check: bool, whether to compare the outputs of both models, without rounding, on one random batch.

    Returns:
        A `keras.Model` with the same layer names and weights but for what was opened, and a layer
        `..._range` for each range.

    Raises:
        InputError: `model` is quantized already, is neither Functional nor Sequential, or has no layer that
            the scheme quantizes; or `scheme` or a name in `skip` is unknown.
        PassError: the outputs differ.
    """
    scheme = scheme_named(scheme)
    if is_quantized(model):
        raise InputError(f"{model.name!r} is quantized already: remove_quantization returns its float model")
    check_float(Graph(model))
    opened = open_layers(model, _names(skip), check=False)
    skipped = _paths_inside(skip, Graph(opened))
    folded = fold_normalization(fold_batch_norm(opened, check=False))
    graph = _with_products_for_silu(Graph(_with_separate_activations(folded, scheme)), scheme, skipped)
    parts = _integer_parts(graph, scheme, skipped)
    if not parts.ranges:
        raise InputError(f"{model.name!r} has no layer that the scheme quantizes; skip={tuple(skip)}")
    _warn_of_unknown(graph, scheme)
    return checked(model, _with_ranges(graph, scheme, parts), "quantize_aware", check)


def remove_quantization(model, check=True):
    """Turns a quantized model into a float model with its trained weights; normalization stays folded.

    Args:
        model: `keras.Model` made by `quantize_aware`. It is not modified.
        check: bool, whether to compare the outputs of both models, without rounding, on one random batch.

    Returns:
        A `keras.Model`.

    Raises:
        InputError: `model` is not quantized.
        PassError: the outputs differ.
    """
    if not is_quantized(model):
        raise InputError(f"{model.name!r} is not quantized: there is nothing to remove")

    def replace(path, layer):
        return layer.to_stock() if isinstance(layer, RoundedWeights) else None

    def call(path, layer, *args, **kwargs):
        return args[0] if isinstance(layer, ActivationRange) else layer(*args, **kwargs)

    return checked(model, rewrite(model, replace, call), "remove_quantization", check)


def is_quantized(model):
    """Whether the model was made by `quantize_aware`."""
    return any(isinstance(layer, ActivationRange | RoundedWeights) for layer in layers_inside(model))


def _with_separate_activations(model, scheme):
    """Moves activations that cannot be computed with integers into `Activation` layers of their own."""
    graph = Graph(model)
    separate = {
        graph.path(layer): layer.activation
        for layer in graph.layers
        if type(layer) in scheme.integer
        and getattr(layer, "activation", None) not in (None, keras.activations.linear, *FUSED_ACTIVATIONS)
    }

    activations = {}  # from a path to its new layer, which several calls share

    def replace(path, layer):
        if path not in separate:
            return None
        name = graph.new_name(path, "activation")
        activations[path] = layers.Activation(separate[path], name=name, dtype=layer.dtype_policy)
        return type(layer).from_config({**config_of(layer), "activation": None})

    def call(path, layer, *args, **kwargs):
        output = layer(*args, **kwargs)
        return activations[path](output) if path in separate else output

    return rewrite(graph, replace, call) if separate else model


def _with_products_for_silu(graph, scheme, skipped):
    """Writes `silu(x)` as `x * sigmoid(x)` where all around it are integers, which have no kernel for it."""
    parts = _integer_parts(graph, scheme, skipped)
    opened = {
        graph.path(layer): layers.Activation(
            "sigmoid", name=graph.new_name(graph.path(layer), "sigmoid"), dtype=layer.dtype_policy
        )
        for layer in graph.layers
        if kind_of(layer) is keras.activations.silu and parts.is_integer(layer)
    }
    if not opened:
        return graph

    def replace(path, layer):
        return layers.Multiply(name=layer.name, dtype=layer.dtype_policy) if path in opened else None

    def call(path, layer, *args, **kwargs):
        return layer([args[0], opened[path](args[0])]) if path in opened else layer(*args, **kwargs)

    return Graph(rewrite(graph, replace, call))


def _integer_parts(graph, scheme, skipped):
    """The `IntegerParts` of a graph but for what is skipped."""
    paths = {
        graph.path(layer)
        for layer in graph.operations
        if graph.path(layer) not in skipped and not _needs_float_sum(layer)
    }
    return IntegerParts(graph, scheme, paths, _known_ranges(graph))


def _with_ranges(graph, scheme, parts):
    """Quantizes the layers that compute with integers and adds the ranges that they need."""
    ranges, known = {}, _known_ranges(graph)
    quantized = {graph.path(layer) for layer in graph.layers if parts.is_integer(layer)}

    def ranged(path, outputs):
        if path not in parts.ranges:
            return outputs
        name = parts.ranges[path]
        if name not in ranges:  # a layer that is called several times has one range
            ranges[name] = ActivationRange(
                name in parts.symmetric,
                scheme.activation_bits,
                scheme.percent,
                scheme.momentum,
                known.get(name),
                name=graph.new_name(name, "range"),
            )
        return keras.tree.map_structure(ranges[name], outputs)

    def replace(path, layer):
        quantized_class = scheme.integer.get(type(layer), type(layer))
        if path in quantized and issubclass(quantized_class, RoundedWeights):
            return quantized_class.from_stock(layer, scheme.weight_bits)
        return None

    def call(path, layer, *args, **kwargs):
        return ranged(path, layer(*args, **kwargs))

    return rewrite(graph, replace, call, read=ranged)


def _known_ranges(graph):
    """Ranges that need no calibration: of pixels, of pixels minus their mean, and of some activations."""
    known = {
        graph.path(layer): FIXED_RANGES[kind_of(layer)]
        for layer in graph.layers
        if kind_of(layer) in FIXED_RANGES
    }
    pixels = description_of(graph.model).input_range
    if pixels is None:
        return known
    known |= {graph.path(layer): pixels for layer in graph.layers if isinstance(layer, layers.InputLayer)}
    for layer in graph.layers:
        if isinstance(layer, Shift) and graph.path(graph.producers(layer)[0]) in known:
            low, high = known[graph.path(graph.producers(layer)[0])]
            known[graph.path(layer)] = (low + float(np.min(layer.offset)), high + float(np.max(layer.offset)))
    return known


def _needs_float_sum(layer):
    """Whether a layer adds to its product what integer kernels have no place for."""
    return isinstance(layer, layers.EinsumDense) and einsum.has_bias_of_positions(layer)


def _names(skip):
    if isinstance(skip, str):
        raise InputError(f"skip has to be a sequence of layer names; received the string {skip!r}")
    return skip


def _paths_inside(skip, graph):
    """The paths of the layers that `skip` names, those inside of a model by its name.

    Raises:
        InputError: `skip` names no layer.
    """
    paths, found = [graph.path(layer) for layer in graph.layers], set()
    for name in skip:
        inside = {path for path in paths if is_named(path, (name,))}
        if not inside:
            raise InputError(
                f"skip names {name!r}, but {graph.model.name!r} has no such layer; {suggest(name, paths)}"
            )
        found |= inside
    return found


def _warn_of_unknown(graph, scheme):
    known = {*scheme.integer, *scheme.between, *scheme.transparent, *scheme.floating}
    unknown = [layer for layer in graph.operations if not known & {kind_of(layer), type(layer)}]
    if unknown:
        names = ", ".join(f"{graph.path(layer)} ({type(layer).__name__})" for layer in unknown)
        warnings.warn(
            f"the scheme has no entry for {names}: they stay float. If that is intended, add their classes "
            "to `floating` of a Scheme",
            stacklevel=3,
        )
