"""The one engine under every pass: a copy of a Functional graph, with layers and calls replaced."""

import itertools

import keras
from keras.src.models import Functional  # Keras gives this class no public name

from hsvit_runtime.errors import InputError


class Graph:
    """Which layer feeds which in a Functional model.

    Args:
        model: `keras.Model` built as a Functional graph, or `keras.Sequential`.

    Raises:
        ValueError: `model` is neither.
    """

    def __init__(self, model):
        self.model = functional(model)
        self._tensors, self._producers, self._consumers, self._calls = {}, {}, {}, {}
        for node in itertools.chain.from_iterable(self.model._nodes_by_depth.values()):
            layer = node.operation
            self._calls[layer.name] = self._calls.get(layer.name, 0) + 1
            tensors = node.arguments.keras_tensors
            sources = [tensor._keras_history.operation for tensor in tensors]
            self._tensors.setdefault(layer.name, []).extend(tensors)
            self._producers.setdefault(layer.name, []).extend(sources)
            for source in sources:
                self._consumers.setdefault(source.name, []).append(layer)
        self._outputs = {tensor._keras_history.operation.name for tensor in self.model.outputs}

    def producers(self, layer):
        """The layers whose outputs `layer` takes, in the order of its arguments."""
        return self._producers.get(layer.name, [])

    def arguments(self, layer):
        """The symbolic tensors that `layer` takes, of all its calls."""
        return self._tensors.get(layer.name, [])

    def consumers(self, layer):
        """The layers that take the output of `layer`."""
        return self._consumers.get(layer.name, [])

    def is_output(self, layer):
        """Whether the model gives out what `layer` computes."""
        return layer.name in self._outputs

    def is_called_once(self, layer):
        """Whether `layer` stands in one place of the graph; shared layers stand in several."""
        return self._calls.get(layer.name, 0) == 1


def functional(model):
    """`model` as a Functional graph.

    Raises:
        ValueError: it is neither, or a Sequential model without input, so its graph is unknown.
    """
    if isinstance(model, keras.Sequential) and not model.built:
        raise InputError(f"{model.name!r} has no graph yet: give its first layer an input shape")
    if isinstance(model, keras.Sequential):
        return keras.Model(model.inputs[0], model.outputs[0], name=model.name)
    if not isinstance(model, Functional):
        raise InputError(
            "the model has to be a Functional graph or Sequential, since a pass follows its layers; "
            f"received {getattr(model, 'name', model)!r} of class {type(model).__name__}"
        )
    return model


def rewrite(model, replace=None, call=None, batch_size=None):
    """Copies a graph, with its weights, into a new one.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It stays as it is.
        replace: function from a layer to what stands in its place: None for a plain copy, a new layer
            of the same name that takes the same weights, or such a layer and its list of arrays. It is
            not asked about bare operations, such as `x + y`, which are kept.
        call: function `(new_layer, *args, **kwargs)` that calls a new layer; it may do more before and
            after, or not call at all.
        batch_size: int, a fixed size of the batch; the model's own by default.

    Returns:
        A `keras.Model`.
    """
    model, weights = functional(model), {}

    def clone(layer):
        if not isinstance(layer, keras.Layer):  # an operation such as `x + y`: it has no state
            return layer
        replacement = replace(layer) if replace else None
        if replacement is None:
            replacement = type(layer).from_config(layer.get_config())
        if not isinstance(replacement, tuple):
            replacement = replacement, layer.get_weights()
        new_layer, weights[layer.name] = replacement
        return new_layer

    copied = keras.models.clone_model(
        model,
        input_tensors=_inputs(model, batch_size),
        clone_function=clone,
        call_function=call or (lambda layer, *args, **kwargs: layer(*args, **kwargs)),
    )
    for layer in copied.layers:
        if layer.name in weights:
            layer.set_weights(weights[layer.name])
    return copied


def with_dtype(model, policy):
    """A copy of a graph, with its weights, whose layers have another dtype policy.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It stays as it is.
        policy: dtype policy or its name.

    Returns:
        A `keras.Model`. What is inside of a model within the model keeps its policy.
    """

    def replace(layer):
        if isinstance(layer, keras.layers.InputLayer | keras.Model):
            return None
        return type(layer).from_config({**layer.get_config(), "dtype": policy})

    return rewrite(model, replace)


def _inputs(model, batch_size):
    inputs = [
        keras.Input(
            batch_shape=(batch_size or tensor.shape[0], *tensor.shape[1:]),
            dtype=tensor.dtype,
            name=tensor._keras_history.operation.name,
        )
        for tensor in model.inputs
    ]
    return keras.tree.pack_sequence_as(model.input, inputs)
