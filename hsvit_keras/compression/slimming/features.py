"""Finds the weights that have to be removed together with some features of a tensor.

A feature is an entry of a tensor's axis, such as the output of a unit of a Dense layer or of a kernel of a
convolution. Each feature is labelled with the number of the part it belongs to, such as an attention head.
`follow` propagates these labels through the graph, by a rule for each class of layers, and collects which
entries of which weights belong to which part. Propagation stops where a layer sums over the features: the
next Dense layer, convolution or mean. If a layer needs all of its features, such as a normalization over
them, the parts cannot be removed and `follow` raises `InseparableError`.

Where features are multiplied by factors, as in squeeze-and-excite, the units that compute the factors are
removed with the features.
"""

from keras import layers

from hsvit_keras.compression.slimming.cuts import AxisParts, InseparableError, MissingSourceError, cut
from hsvit_keras.compression.slimming.layer_rules import (
    CONVOLUTIONS,
    LAYER_RULES,
    SEPARABLE,
    TRANSPOSED,
    einsum_letter,
    mixes_features,
)
from hsvit_keras.compression.slimming.operation_rules import OPERATION_RULES
from hsvit_keras.layers import ImageParts

RULES = {**LAYER_RULES, **OPERATION_RULES}
KERNELS = (*CONVOLUTIONS, *SEPARABLE, *TRANSPOSED)
SOURCES = (layers.Dense, layers.EinsumDense, *KERNELS)


def follow(graph, sources):
    """Finds all weights that belong to the features of some layers.

    Args:
        graph: `Graph`.
        sources: dict from the path of a layer of `SOURCES`, or of `ImageParts`, to a sequence with the number
            of the part of each of its output features.

    Returns:
        list of `Cut`, in the order of the graph.

    Raises:
        InseparableError: a layer that reads the features needs all of them, or they are an output of the
            model.
    """
    try:
        return _cuts(graph, sources)
    except MissingSourceError as missing:
        source = nearest_source(graph, graph.producers(missing.layer)[missing.index])
        order = {graph.path(operation): i for i, operation in enumerate(graph.operations)}
        # It is listed with the first source; else the same parts would have two names.
        if source is None or order[graph.path(source)] < min(map(order.get, sources)):
            raise
        if graph.path(source) in sources:
            raise
        return follow(graph, {**sources, graph.path(source): missing.parts})


def nearest_source(graph, operation, classes=SOURCES):
    """The nearest layer of one of `classes` from `operation` towards the input; None if there is none."""
    while operation is not None and type(operation) not in classes:
        operation = next(iter(graph.producers(operation)), None)
    return operation


def _cuts(graph, sources):
    cuts = {}
    for layer in graph.operations:
        incoming = [cuts[x].output if x in cuts else None for x in graph.producers(layer)]
        path = graph.path(layer)
        if not any(incoming) and path not in sources:
            continue
        if not graph.is_called_once(layer):
            raise InseparableError(layer)
        if path in sources:
            found = _source(layer, incoming, tuple(sources[path]))
        elif type(layer) in RULES:
            found = RULES[type(layer)](layer, incoming)
        else:
            raise InseparableError(layer)
        if found.output:
            _check_readers(graph, layer)
        cuts[layer] = found
    return list(cuts.values())


def _check_readers(graph, layer):
    """Raises `InseparableError` if what reads the features of a layer needs all of them whatever it is."""
    if graph.is_output(layer):
        raise InseparableError(layer)
    for reader in graph.consumers(layer):
        if not graph.is_called_once(reader):  # its other calls may come before in the order of the graph
            raise InseparableError(reader)


def _source(layer, incoming, parts):
    """The layer that computes the features."""
    last = len(layer.output.shape) - 1
    if any(incoming) or mixes_features(layer) or layer.output.shape[-1] != len(parts):
        raise InseparableError(layer)
    if isinstance(layer, ImageParts):
        groups = parts[:: len(parts) // len(layer.parts)]
        return cut(layer, sizes={"parts": groups}, output=AxisParts(last, parts))
    if isinstance(layer, layers.EinsumDense):
        return einsum_letter(layer, layer.equation[-1], parts)
    if not isinstance(layer, layers.Dense) and not _is_plain(layer):
        raise InseparableError(layer)
    kernel, shape = _kernel(layer)
    axis = len(shape) - (2 if isinstance(layer, TRANSPOSED) else 1)
    weights = {kernel: AxisParts(axis, parts)}
    if layer.use_bias:
        weights[kernel + 1] = AxisParts(0, parts)
    size = "units" if isinstance(layer, layers.Dense) else "filters"
    return cut(layer, weights, {size: parts}, AxisParts(last, parts))


def _is_plain(convolution):
    return getattr(convolution, "groups", 1) == 1 and convolution.data_format == "channels_last"


def _kernel(layer):
    """The index and the shape of the kernel that computes the features."""
    if isinstance(layer, SEPARABLE):
        return 1, layer.pointwise_kernel.shape
    return 0, layer.kernel.shape
