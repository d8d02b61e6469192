"""What all passes are built on: copying a Functional graph while replacing layers and calls."""

import itertools

import keras
from keras.src.models import Functional  # Keras gives this class no public name

from hsvit_runtime.errors import InputError


class Graph:
    """The connections between the layers of a model.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or has no input shape.
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
        """The layers whose outputs are the inputs of `layer`, in the order of its arguments."""
        return self._producers.get(layer.name, [])

    def arguments(self, layer):
        """The symbolic tensors that are inputs of `layer`, in all its calls."""
        return self._tensors.get(layer.name, [])

    def consumers(self, layer):
        """The layers that read the output of `layer`."""
        return self._consumers.get(layer.name, [])

    def is_output(self, layer):
        """Whether an output of the model is computed by `layer`."""
        return layer.name in self._outputs

    def is_called_once(self, layer):
        """Whether `layer` is called in one place of the graph; shared layers are called in several."""
        return self._calls.get(layer.name, 0) == 1


def functional(model):
    """`model` as a Functional graph.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or has no input shape.
    """
    if isinstance(model, keras.Sequential) and not model.built:
        raise InputError(f"{model.name!r} has no graph yet: give its first layer an input shape")
    if isinstance(model, keras.Sequential):
        return keras.Model(model.inputs[0], model.outputs[0], name=model.name)
    if not isinstance(model, Functional):
        raise InputError(
            "the model has to be a Functional graph or Sequential, so that its layers can be read; "
            f"received {getattr(model, 'name', model)!r} of class {type(model).__name__}"
        )
    return model


def rewrite(model, replace=None, call=None, batch_size=None):
    """Copies a model with its weights, while replacing layers or changing how they are called.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.
        replace: function that takes a layer and returns None for a plain copy, a new layer of the same name
            and with weights of the same shapes, or a pair of such a layer and a list of arrays, its weights.
            Operations that are not layers, such as `x + y`, are always kept.
        call: function `(new_layer, *args, **kwargs)` that calls a new layer and returns its output. It may
            insert other layers, or return an input to leave the layer out.
        batch_size: int, the batch size of the copy; that of `model` by default.

    Returns:
        A `keras.Model`.
    """
    model, weights = functional(model), {}

    def clone(layer):
        if not isinstance(layer, keras.Layer):  # operations such as `x + y` have no state to copy
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
    """Copies a model with its weights, and gives its layers another dtype policy.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.
        policy: dtype policy or its name.

    Returns:
        A `keras.Model`. Layers of models nested inside of it keep their policy.
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
