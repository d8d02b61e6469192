"""What all passes are built on: copying a graph while replacing layers or changing how they are called."""

import inspect

import keras
import numpy as np
from keras.src.models import Functional  # Keras gives this class no public name
from keras.src.models.functional import functional_like_constructor

from hsvit_keras.compression.graph import Graph, functional, is_nested
from hsvit_keras.compression.model_inputs import input_name
from hsvit_runtime.errors import InputError

# What a subclass of `keras.Model` overrides to train in its own way.
_TRAINING_METHODS = ("train_step", "test_step", "predict_step", "compute_loss", "compute_metrics")


def rewrite(model, replace=None, call=None, read=None, batch_size=None, image_shape=None):
    """Copies a model with all its state, while replacing layers or changing how they are called.

    Models nested inside the model are copied in the same way, and stay nested. Layers that are not replaced
    keep everything that Keras saves of them, and whether they are trained.

    Args:
        model: `keras.Model` as a Functional graph, `keras.Sequential`, or the `Graph` of one. It is not
            modified.
        replace: function `(path, layer)` that returns None for a plain copy, a new layer of the same name
            that takes what Keras saves of `layer`, or a pair of a new layer and a list of its weights.
            Operations that are not layers, such as `x + y`, are always kept.
        call: function `(path, new_layer, *args, **kwargs)` that calls a new layer and returns its output. It
            may insert other layers, or return an input to leave the layer out.
        read: function `(path, tensor)` that takes an input of the model and returns what layers read for it.
        batch_size: int, the batch size of the copy, or a function from an input of the model to it; that of
            `model` by default.
        image_shape: tuple, the shape of the copy's one input without the batch; that of `model` by default.

    Returns:
        A `keras.Model`; of the class of `model` if that can be made of inputs and outputs.

    Raises:
        InputError: `model` is neither Functional nor Sequential, has no input shape, or has a layer that
            cannot be copied.
    """
    graph = model if isinstance(model, Graph) else Graph(model)
    return _Copy(graph, replace or _keep, call or _call_as_before, read or _read_as_it_is).of(
        batch_size, image_shape
    )


def with_dtype(model, policy):
    """Copies a model with its weights, and gives its layers another dtype policy.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.
        policy: dtype policy or its name.

    Returns:
        A `keras.Model`.
    """

    def replace(path, layer):
        return type(layer).from_config({**config_of(layer), "dtype": policy})

    return rewrite(model, replace)


def config_of(layer):
    """The configuration of a layer, with activation functions as they are: not all can be found by name.

    Activations that are layers are made anew from their configuration, so that two layers do not share one.
    """
    config = layer.get_config()
    values = {name: getattr(layer, name, None) for name in config if name.endswith("activation")}
    is_function = {name: callable(v) and not isinstance(v, keras.Layer) for name, v in values.items()}
    return {**config, **{name: value for name, value in values.items() if is_function[name]}}


def _keep(path, layer):
    return None


def _call_as_before(path, layer, *args, **kwargs):
    return layer(*args, **kwargs)


def _read_as_it_is(path, tensor):
    return tensor


class _Copy:
    """One copy of a graph in the making."""

    def __init__(self, graph, replace, call, read):
        self._graph, self._replace, self._call, self._read = graph, replace, call, read
        self._copies = {}  # from an operation to its copy
        self._weights = {}  # from a layer to the weights of its replacement, if it has some of its own

    def of(self, batch_size, image_shape):
        model = self._graph.model
        copy = self._model(model, _inputs(model, batch_size, image_shape=image_shape), self._read)
        for layer, new in self._copies.items():
            is_layer = isinstance(layer, keras.Layer) and not is_nested(layer)
            if not is_layer or not new.built:  # a call may leave it out
                continue
            if layer in self._weights:
                new.set_weights(self._weights[layer])
            else:
                _carry_state(layer, new)
        copy.trainable = model.trainable  # which sets that of all inside of it
        for layer, new in self._copies.items():
            _carry_trainable(layer, new)
        return copy

    def _model(self, model, inputs, read=_read_as_it_is):
        """The copy of a model and of what is inside of it, without state."""
        tensors = [read(input_name(tensor), tensor) for tensor in inputs]
        outputs = model._run_through_graph(tensors, call_fn=self._called)
        return _like(model, keras.tree.pack_sequence_as(model.input, inputs), outputs)

    def _called(self, operation, *args, **kwargs):
        if operation not in self._copies:
            self._copies[operation] = self._new(operation, args)
        copy = self._copies[operation]
        if not isinstance(operation, keras.Layer):
            args, kwargs = keras.tree.map_structure(_constant, (args, kwargs))
        if is_nested(operation):
            return copy(*args, **kwargs)
        if type(operation) is keras.layers.Identity:  # which Keras cannot call in a nested model with a mode
            kwargs.pop("training", None)
        return self._call(self._graph.path(operation), copy, *args, **kwargs)

    def _new(self, operation, args):
        if not isinstance(operation, keras.Layer):  # operations such as `x + y` have no state to copy
            return operation
        if is_nested(operation):
            inside = functional(operation)
            given = inside._standardize_inputs(_as_declared(inside, args[0]))
            return self._model(inside, _inputs(inside, like=given))
        new = self._replace(self._graph.path(operation), operation)
        if new is None:
            return fresh(operation, self._graph.path(operation))
        if isinstance(new, tuple):
            new, self._weights[operation] = new
        return new


def _as_declared(model, inputs):
    """Inputs of a call, the one of a model in a list where its own is: a call without it is valid, too."""
    is_in_list = isinstance(model.input, list) and isinstance(inputs, keras.KerasTensor)
    return [inputs] if is_in_list else inputs


def _constant(value):
    """Arrays in place of constant tensors, which converters would take for further inputs of the model."""
    is_constant = keras.ops.is_tensor(value) and not isinstance(value, keras.KerasTensor)
    return keras.ops.convert_to_numpy(value) if is_constant else value


def fresh(layer, path):
    """A layer of the same configuration, without state."""
    if isinstance(layer, keras.layers.Lambda):  # by its config it would lose what its function refers to
        config = {"output_shape": layer._output_shape, "mask": layer.mask, "arguments": layer.arguments}
        return keras.layers.Lambda(layer.function, **config, name=layer.name, dtype=layer.dtype_policy)
    if type(layer) is keras.layers.Identity:  # which Keras cannot save with a policy that is not a string
        return keras.layers.Identity(name=layer.name, dtype=layer.dtype_policy.name)
    config = {
        name: fresh(value, f"{path}.{name}") if isinstance(value, keras.Layer) else value
        for name, value in config_of(layer).items()
    }
    try:
        copy = type(layer).from_config(config)
        copy.name = layer.name  # which Keras' own config of a class may leave out
        return copy
    except Exception as error:  # whatever the code of a class that was never copied before ends in
        raise InputError(
            f"{path!r} of class {type(layer).__name__} cannot be copied: its get_config and from_config have "
            f"to give it again; {str(error).strip().splitlines()[0]}"
        ) from error


def _carry_state(layer, copy):
    """Gives a copy what Keras saves of a layer, and of the layers inside of it."""
    for old, new in zip(layer._flatten_layers(), copy._flatten_layers(), strict=True):
        saved = {}
        old.save_own_variables(saved)
        if saved:
            new.load_own_variables({key: np.asarray(value) for key, value in saved.items()})


def _carry_trainable(layer, copy):
    if not isinstance(layer, keras.Layer):
        return
    if is_nested(layer):
        copy._trainable = layer.trainable  # without that of the layers inside of it, which have their own
        return
    inside = layer._flatten_layers(), copy._flatten_layers()
    if type(layer) is not type(copy) or len(inside[0]) != len(inside[1]):  # a replacement has other parts
        inside = [layer], [copy]
    for old, new in zip(*inside, strict=True):
        new.trainable = old.trainable


def _like(model, inputs, outputs):
    """A model of the class of another if that can be made of inputs and outputs, else a `keras.Model`.

    Raises:
        InputError: it cannot, and the class trains in its own way, which the copy would lose.
    """
    model_class = type(model)
    if functional_like_constructor(model_class):
        return model_class(inputs, outputs, name=model.name)
    known = inspect.signature(model_class.__init__).parameters
    if {"inputs", "outputs"} <= set(known):
        config = model.get_config()
        return model_class(
            inputs=inputs,
            outputs=outputs,
            **{name: config[name] for name in known if name in config},
        )
    lost = [name for name in _TRAINING_METHODS if getattr(model_class, name) is not getattr(Functional, name)]
    if lost:
        raise InputError(
            f"{model.name!r} cannot be copied with its {lost[0]}: give the constructor of "
            f"{model_class.__name__} the arguments inputs and outputs, and let get_config name its others; "
            "or take keras.Model(model.inputs, model.outputs), which is without it"
        )
    return keras.Model(inputs, outputs, name=model.name)


def _inputs(model, batch_size=None, like=(), image_shape=None):
    """Inputs as those of a model.

    Args:
        model: `keras.Model`.
        batch_size: see `rewrite`.
        like: list of tensors that the inputs are to take, whose sizes may be others where they are fixed.
        image_shape: see `rewrite`.
    """
    batch_of = batch_size if callable(batch_size) else lambda tensor: batch_size or tensor.shape[0]
    return [
        keras.Input(
            batch_shape=(batch_of(tensor), *(image_shape or _sizes(tensor, given))),
            dtype=tensor.dtype,
            name=input_name(tensor),
        )
        for tensor, given in zip(model.inputs, like or model.inputs, strict=False)  # masks may follow
    ]


def _sizes(tensor, given):
    sizes = zip(tensor.shape[1:], given.shape[1:], strict=True)
    return [None if free is None else size for free, size in sizes]
