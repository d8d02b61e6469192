"""Keras' layers of multi-head attention, as projections around our attention core."""

import inspect
import math

import keras
import numpy as np
from keras import layers, ops

from hsvit_keras.compression.graph import is_named
from hsvit_keras.compression.opening.openings import Opening
from hsvit_keras.layers import SoftmaxAttention

_CLASSES = (layers.MultiHeadAttention, layers.GroupQueryAttention)
# What makes another attention of it, or is about kernels of the shape that they had within the layer.
_FOREIGN = ("use_gate", "sliding_window", "kernel_constraint", "bias_constraint")
_CARRIED = (
    "activity_regularizer", "bias_initializer", "bias_regularizer", "dtype", "kernel_initializer",
    "kernel_regularizer",
)  # fmt: skip


def openings_of_attention(graph, keep):
    """How the attention layers of a graph are opened.

    Args:
        graph: `Graph`.
        keep: sequence of str, paths of layers that are not opened, or of models with all inside.

    Returns:
        list of `Opening`, one for each layer that can be opened.
    """
    return [
        _opening(graph, layer)
        for layer in graph.layers
        if type(layer) in _CLASSES and _is_plain(layer, graph) and not is_named(graph.path(layer), keep)
    ]


def _is_plain(layer, graph):
    config = layer.get_config()
    is_foreign = any(map(config.get, _FOREIGN)) or config.get("attention_axes") not in (None, (1,))
    return not is_foreign and all(_is_plain_call(layer, call) for call in graph.calls(layer))


def _is_plain_call(layer, call):
    """Whether a call is about tokens `(batch, tokens, dim)`, their number fixed, and about nothing else."""
    arguments = inspect.signature(layer.call).bind(*call.args, **call.kwargs).arguments
    arguments.pop("training", None)
    given = {name: value for name, value in arguments.items() if value is not None and value is not False}
    return set(given) <= {"query", "key", "value"} and all(map(_are_tokens, given.values()))


def _are_tokens(tensor):
    return isinstance(tensor, keras.KerasTensor) and len(tensor.shape) == 3 and None not in tensor.shape[1:]


def _opening(graph, layer):
    path = graph.path(layer)
    # Where several heads of queries share a head of keys and values, its kernel is repeated.
    repeats = getattr(layer, "num_repeats", 1)
    sources = {
        "query": (layer._query_dense, 1, 1),
        "key": (layer._key_dense, 1, repeats),
        "value": (layer._value_dense, 1, repeats),
        "output": (layer._output_dense, 2, 1),
    }
    dense = {part: _dense(*source, graph.new_name(path, part)) for part, source in sources.items()}
    config = layer.get_config()
    num_heads = config.get("num_heads") or config["num_query_heads"]
    core = SoftmaxAttention(num_heads, config["dropout"], name=layer.name, dtype=layer.dtype_policy)
    shape = layer._output_dense.kernel.shape[2:]
    axes = layers.Reshape((-1, *shape), name=graph.new_name(path, "output_axes"), dtype=layer.dtype_policy)

    def attend(query, value, key=None, training=None, **nothing):
        keys = dense["key"](value if key is None else key)
        mixed = core(dense["query"](query), keys, dense["value"](value), training=training)
        output = dense["output"](mixed)
        return output if len(shape) == 1 else axes(output)

    trainable = {dense[part]: layer.trainable and source.trainable for part, (source, *_) in sources.items()}
    return Opening({path: (core, [])}, {path: attend}, trainable)


def _dense(projection, num_inputs, repeats, name):
    """A Dense layer that computes what a projection within an attention layer does.

    Args:
        projection: built `EinsumDense`.
        num_inputs: int, how many axes of its kernel, the first ones, are summed over.
        repeats: int, how often each entry of the axis of its kernel behind these is repeated.
        name: str.
    """
    kernel = np.repeat(ops.convert_to_numpy(projection.kernel), repeats, axis=num_inputs)
    inputs = math.prod(kernel.shape[:num_inputs])
    weights = [kernel.reshape(inputs, -1)]
    if projection.bias is not None:
        weights.append(np.repeat(ops.convert_to_numpy(projection.bias), repeats, axis=0).reshape(-1))
    config = projection.get_config()
    dense = layers.Dense.from_config(
        {
            **{argument: config[argument] for argument in _CARRIED},
            "units": weights[0].shape[1],
            "use_bias": len(weights) > 1,
            "name": name,
        }
    )
    dense.build((None, inputs))
    dense.set_weights(weights)
    return dense
