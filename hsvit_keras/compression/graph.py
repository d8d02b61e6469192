"""The calls of a model's layers and what each of them reads, followed through models inside of the model.

Passes read a `Graph` to decide what to change. A layer is named by its path: its name, behind those of the
models it is in, such as "backbone/conv1".
"""

import itertools

import keras
from keras.src.models import Functional  # Keras gives this class no public name

from hsvit_runtime.errors import InputError


class Graph:
    """The layers and operations of a model, and the connections between them.

    Models nested inside the model are not listed themselves, but the layers inside them are: a graph reads as
    if they stood in the outer model.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.

    Attributes:
        model: `keras.Model`, the Functional graph.
        operations: list of `keras.Operation`, each once, in the order of computation. Layers are operations;
            others are those of expressions such as `x + y`.
        layers: list of `keras.Layer`, those of `operations` that are layers.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or has no input shape.
    """

    def __init__(self, model):
        self.model = functional(model)
        self._paths, self._calls, self._consumers = {}, {}, {}
        inputs = [tensor._keras_history.operation for tensor in self.model.inputs]
        for layer in inputs:
            self._paths[layer] = layer.name
            self._calls[layer] = []
        self._outputs = set(self._follow(self.model, inputs, "", None))
        self.operations = list(self._paths)
        self.layers = [operation for operation in self.operations if isinstance(operation, keras.Layer)]

    def path(self, operation):
        """The path of a layer or operation."""
        return self._paths[operation]

    def calls(self, operation):
        """The calls of `operation`, each a `Call`."""
        return self._calls.get(operation, [])

    def producers(self, operation):
        """The operations whose outputs are the inputs of `operation` in all its calls, in their order."""
        return [source for call in self.calls(operation) for source in call.producers]

    def arguments(self, operation):
        """The symbolic tensors that are inputs of `operation` in all its calls."""
        return [tensor for call in self.calls(operation) for tensor in call.tensors]

    def consumers(self, operation):
        """The operations that read the output of `operation`, once for each time."""
        return self._consumers.get(operation, [])

    def is_output(self, operation):
        """Whether an output of the model is computed by `operation`."""
        return operation in self._outputs

    def is_called_once(self, operation):
        """Whether `operation` is called in one place of the graph; shared layers are called in several."""
        return len(self.calls(operation)) == 1

    def is_training(self, operation):
        """Whether a call of `operation` computes as in training whatever the mode of the model is."""
        return any(call.is_training for call in self.calls(operation))

    def new_name(self, path, suffix):
        """A name for a layer behind the one at `path`, which no layer of the graph has."""
        name, names = f"{path.rpartition('/')[2]}_{suffix}", {operation.name for operation in self.operations}
        numbered = (f"{name}_{i}" for i in itertools.count(1))
        return name if name not in names else next(other for other in numbered if other not in names)

    def _follow(self, model, sources, prefix, training):
        """Records the calls of a model's layers.

        Args:
            model: `keras.Model`, a Functional graph.
            sources: list of operations, those that compute the inputs of the model.
            prefix: str, in front of names to make them paths.
            training: bool or None, what the call of the model says.

        Returns:
            list of the operations that compute the outputs of the model.
        """
        producer = {id(tensor): source for tensor, source in zip(model.inputs, sources, strict=True)}
        for node in _in_order(model):
            operation = node.operation
            incoming = [producer[id(tensor)] for tensor in node.arguments.keras_tensors]
            says = node.arguments.kwargs.get("training")
            is_training = training if says is None else says
            if is_nested(operation):
                inside, path = functional(operation), f"{prefix}{operation.name}/"
                # Keras may have added masks behind the inputs.
                outgoing = self._follow(inside, incoming[: len(inside.inputs)], path, is_training)
            else:
                self._record(operation, prefix, Call(incoming, node.arguments, is_training))
                outgoing = [operation] * len(node.outputs)
            producer |= {id(tensor): source for tensor, source in zip(node.outputs, outgoing, strict=True)}
        return [producer[id(tensor)] for tensor in model.outputs]

    def _record(self, operation, prefix, call):
        self._paths.setdefault(operation, prefix + operation.name)
        self._calls.setdefault(operation, []).append(call)
        for source in call.producers:
            self._consumers.setdefault(source, []).append(operation)


class Call:
    """One call of a layer.

    Args:
        producers: list of the operations whose outputs it reads.
        arguments: Keras' record of the arguments, with `args`, `kwargs` and their `keras_tensors`.
        is_training: whether the call computes as in training whatever the mode of the model is.

    Attributes:
        tensors: list of KerasTensors, the outputs that it reads in the model that the layer stands in.
    """

    def __init__(self, producers, arguments, is_training):
        self.producers, self.is_training = producers, bool(is_training)
        self.args, self.kwargs, self.tensors = arguments.args, arguments.kwargs, arguments.keras_tensors


def is_named(path, names):
    """Whether `names` has a path, or that of a model or a layer that it is in."""
    return any(f"{path}/".startswith(f"{name}/") for name in names)


def layers_inside(model):
    """The layers of any model at any depth, without the models that they are in."""
    return [layer for layer in model._flatten_layers(include_self=False) if not is_nested(layer)]


def check_float(graph):
    """Raises `InputError` if Keras quantized a layer: its kernel is then integers, which no pass can read."""
    for layer in graph.layers:
        modes = (getattr(inside, "quantization_mode", None) for inside in layer._flatten_layers())
        if mode := next(filter(None, modes), None):
            raise InputError(
                f"{graph.path(layer)!r} was quantized by Keras' quantize({mode!r}): take the float model "
                "that it was made of"
            )


def functional(model):
    """`model` as a Functional graph.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or has no input shape.
    """
    if isinstance(model, keras.Sequential) and model._functional is None:
        raise InputError(f"{model.name!r} has no graph yet: give its first layer an input shape")
    if isinstance(model, keras.Sequential):
        return keras.Model(model._functional.input, model._functional.output, name=model.name)
    if not isinstance(model, Functional):
        raise InputError(
            "the model has to be a Functional graph or Sequential, so that its layers can be read; "
            f"received {getattr(model, 'name', model)!r} of class {type(model).__name__}"
        )
    return model


def is_nested(operation):
    """Whether a layer is a model whose graph can be followed, and which computes what its graph says."""
    if isinstance(operation, keras.Sequential):
        has_graph = getattr(operation, "_functional", None) is not None
        return has_graph and type(operation).call is keras.Sequential.call
    return isinstance(operation, Functional) and type(operation).call is Functional.call


def _in_order(model):
    """The calls of a model's layers, each after those whose outputs it reads."""
    for depth in sorted(model._nodes_by_depth, reverse=True):
        yield from (node for node in model._nodes_by_depth[depth] if not node.is_input)
