"""Tracing: which layers and operations a call of a layer consists of.

The layer is called on symbolic tensors, from which a graph of what is inside of it follows. Their batch is
`BATCH`, so that its size can be told from all others where the code of the layer computes with it.
"""

import contextlib
import inspect
import itertools

import keras
from keras import tree
from keras.src.utils.naming import to_snake_case  # Keras gives it no public name

from hsvit_keras.layers import OwnWeight

BATCH = 7919  # a prime, of which no other size is likely to be a multiple
_OTHER_BATCH = 7907


class NotPlainError(Exception):
    """A layer is not plain inside: it computes something that a graph of its layers would not."""


def has_batch(value):
    """Whether a number was computed with the size of the batch."""
    return isinstance(value, int) and value != 0 and value % BATCH == 0


def batch_of(tensor):
    """The batch size of an input of a trace in a copy: a free one if it is that of the trace."""
    return None if has_batch(tensor.shape[0]) else tensor.shape[0]


@contextlib.contextmanager
def traced(layer, call):
    """Traces a layer.

    Args:
        layer: built `keras.Layer`.
        call: `Call` of a graph, one of the layer.

    Yields:
        (`keras.Model`, function): the layers and operations inside of the layer, each with another name, part
        of the model within the context only; and how the model's outputs become those of the layer.

    Raises:
        NotPlainError: the layer is not plain inside.
    """
    with contextlib.ExitStack() as undo:
        for part in layer._flatten_layers():
            for nodes in (part._inbound_nodes, part._outbound_nodes):
                undo.callback(nodes.__delitem__, slice(len(nodes), None))
        trace = _trace(layer, call, training=None, batch=BATCH)
        if _trace(layer, call, training=True, batch=_OTHER_BATCH).steps() != trace.steps():
            raise NotPlainError("its code computes something else in training, or with the size of the batch")
        yield trace.model(undo), trace.packed


def _trace(layer, call, **mode):
    """One trace, of which all weights of the layer are a part.

    Layers that are called on constants alone, such as an embedding of positions, are not in the graph of a
    first call. Their weights are then taken for those of the layer itself.
    """
    trace = _Trace(layer, call, [layer], **mode)
    if missing := trace.missing():
        owners = [part for part in layer._flatten_layers() if missing & _ids(_own_variables(part))]
        trace = _Trace(layer, call, [layer, *owners], **mode)
    if trace.missing():
        raise NotPlainError("it has weights that do not show in its call")
    return trace


class _Trace:
    """One call of a layer on symbolic tensors.

    Args:
        layer: `keras.Layer`.
        call: `Call`.
        owners: list of layers, the layer and others inside of it whose weights its code reads itself.
        training: bool, or None for that of the model.
        batch: int, the size of the batch.

    Raises:
        NotPlainError: the layer cannot be called on symbolic tensors.
    """

    def __init__(self, layer, call, owners, training, batch):
        self._layer, self._batch = layer, batch
        self._inputs, self._own = [], {}  # from the id of a variable to its layer
        args, kwargs = tree.map_structure(self._symbolic, (call.args, call.kwargs))
        kwargs.pop("training", None)
        if _knows_training(layer):
            kwargs["training"] = training
        with contextlib.ExitStack() as swapped:
            for owner in owners:
                self._swap_own_weights(owner, swapped)
            for part_class in {type(part) for part in layer._flatten_layers(include_self=False)}:
                if not part_class.__module__.startswith("keras."):  # whose layers give tensors
                    _call_inside_where_there_is_none(part_class, swapped)
            self._outputs = self._called(args, kwargs)
        self._nodes = _nodes(_symbolic_of(self._outputs))
        if training is None and any(map(_fixes_mode, self._nodes)):
            raise NotPlainError("its code fixes the mode of a layer inside of it")

    def missing(self):
        """The ids of the layer's weights that the trace does not have."""
        operations = {node.operation for node in self._nodes}
        found = [w for part in operations if isinstance(part, keras.Layer) for w in part.weights]
        own = {variable for variable, part in self._own.items() if part in operations}
        return _ids(self._layer.weights) - _ids(found) - own

    def steps(self):
        """What is called on what, to compare it with another trace."""
        numbers = {}

        def described(value):
            if isinstance(value, keras.KerasTensor):
                return f"tensor {numbers[id(value)]}"
            is_batch = isinstance(value, int) and value and not value % self._batch
            return f"{value // self._batch} batches" if is_batch else str(value)

        steps = []
        for node in self._nodes:
            kwargs = {name: value for name, value in node.arguments.kwargs.items() if name != "training"}
            arguments = tree.flatten((node.arguments.args, kwargs, _arguments_of(node.operation)))
            steps.append((self._identity(node.operation), *map(described, arguments)))
            numbers |= {id(tensor): (len(steps), i) for i, tensor in enumerate(node.outputs)}
        return [*steps, *map(described, tree.flatten(self._outputs))]

    def _identity(self, operation):
        """What is the same of an operation in two traces, beside its arguments."""
        if operation in self._layer._flatten_layers():
            return id(operation)
        is_made_anew = isinstance(operation, keras.Layer) and not isinstance(operation, OwnWeight)
        if is_made_anew and operation.weights:
            raise NotPlainError("its code makes new weights in each call")
        return type(operation)

    def packed(self, tensors):
        """Outputs of the model in the structure that the layer gives, with what is constant in it."""
        tensors = iter(tree.flatten(tensors))
        return tree.map_structure(
            lambda value: next(tensors) if isinstance(value, keras.KerasTensor) else value, self._outputs
        )

    def model(self, undo):
        """The model, in which names are unique until `undo` is closed."""
        taken = set()
        for operation in dict.fromkeys(node.operation for node in self._nodes):
            is_layer = isinstance(operation, keras.Layer)
            name = operation.name if is_layer else to_snake_case(type(operation).__name__)
            numbered = (f"{name}_{i}" if i else name for i in itertools.count())
            undo.callback(setattr, operation, "name", operation.name)
            operation.name = next(other for other in numbered if other not in taken)
            taken.add(operation.name)
        inputs = self._inputs if len(self._inputs) > 1 else self._inputs[0]
        return keras.Model(inputs, _symbolic_of(self._outputs), name=self._layer.name)

    def _symbolic(self, value):
        """An input for a tensor, in the dtype that the code of the layer finds it in."""
        if not isinstance(value, keras.KerasTensor):
            return value
        is_cast = self._layer.autocast and "float" in value.dtype
        batch, *sizes = value.shape
        if any(map(has_batch, sizes)):
            raise NotPlainError("the samples are not in front")
        if batch is None or has_batch(batch):  # within the trace of a block that this one is in
            batch = self._batch * (batch or BATCH) // BATCH
        self._inputs.append(
            keras.Input(
                batch_shape=(batch, *sizes),
                dtype=self._layer.compute_dtype if is_cast else value.dtype,
                name="input",
            )
        )
        return self._inputs[-1]

    def _swap_own_weights(self, owner, swapped):
        """Puts symbolic tensors in place of a layer's own weights until `swapped` is closed."""
        for variable in _own_variables(owner):
            name = _attribute_of(owner, variable)
            if name is None or variable.regularizer or variable.constraint:
                raise NotPlainError(f"its weight {variable.name!r} cannot be a layer")
            weight = _weight_layer(variable, owner, name.strip("_"))
            self._own[id(variable)] = weight
            swapped.callback(vars(owner).__setitem__, name, variable)
            vars(owner)[name] = weight(self._inputs[0])

    def _called(self, args, kwargs):
        try:
            outputs = self._layer.call(*args, **kwargs)
        except Exception as error:  # code that symbolic tensors do not fit, in whatever way
            raise NotPlainError(str(error)) from error
        if not any(isinstance(tensor, keras.KerasTensor) for tensor in tree.flatten(outputs)):
            raise NotPlainError("it gives nothing that depends on its inputs")
        return outputs


def _knows_training(layer):
    return "training" in inspect.signature(layer.call).parameters


def _call_inside_where_there_is_none(layer_class, undo):
    """Calls layers that give None beside tensors as code of what calls them, until `undo` is closed.

    They cannot be operations of a graph, but what is inside of them can.
    """
    own, original = vars(layer_class).get("__call__"), layer_class.__call__

    def call(layer, *args, **kwargs):
        try:
            return original(layer, *args, **kwargs)
        except ValueError as error:
            if "returned a non-tensor" not in str(error):
                raise
            return layer.call(*args, **kwargs)

    layer_class.__call__ = call
    undo.callback(*((setattr, layer_class, "__call__", own) if own else (delattr, layer_class, "__call__")))


def _fixes_mode(node):
    """Whether a call says a mode, where that of the model was to be taken."""
    says = node.arguments.kwargs.get("training")
    return says is not None and says != inspect.signature(node.operation.call).parameters["training"].default


def _own_variables(layer):
    """The variables of a layer itself, without those of the layers inside of it and of random seeds."""
    return [*layer._trainable_variables, *layer._non_trainable_variables]


def _attribute_of(layer, variable):
    """The name of the attribute that holds a variable; None if there is not just one."""
    names = [name for name, value in vars(layer).items() if value is variable]
    return names[0] if len(names) == 1 else None


def _weight_layer(variable, owner, name):
    """The layer of a variable, with its value, the dtype of its owner, and whether it is trained."""
    layer = OwnWeight(variable.shape, variable.dtype, name=name, dtype=owner.dtype_policy)
    layer.build(None)
    layer.set_weights([keras.ops.convert_to_numpy(variable)])
    layer.trainable = owner.trainable and variable.trainable
    return layer


def _symbolic_of(outputs):
    return [tensor for tensor in tree.flatten(outputs) if isinstance(tensor, keras.KerasTensor)]


def _ids(variables):
    return {id(variable) for variable in variables}


def _arguments_of(operation):
    """The arguments that an operation, or a layer made in a call, was made with, as Keras records them."""
    unnamed = {"name", "batch_shape"}
    recorded = operation._auto_config.config if operation._auto_config else {}
    return {name: value for name, value in recorded.items() if name not in unnamed}


def _nodes(tensors):
    """The calls that tensors are computed by, in the order of computation."""
    found, waiting = {}, [node_of(tensor) for tensor in reversed(tensors)]
    while waiting:
        sources = [node_of(tensor) for tensor in waiting[-1].input_tensors]
        unknown = [node for node in sources if id(node) not in found]
        if unknown:
            waiting += reversed(unknown)
        else:
            node = waiting.pop()
            found[id(node)] = node
    return list(found.values())


def node_of(tensor):
    """The call that a symbolic tensor is an output of."""
    operation, index, _ = tensor._keras_history
    return operation._inbound_nodes[index]
