"""What layers compute inside of a model, at any depth of nested models."""

import keras

from hsvit_keras.compression.graph import functional, is_nested


class Probe(keras.Model):
    """Runs a model at inference and gives something of the outputs of some of its layers.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.
        layers: sequence of operations of its `Graph`.
        reduce: function `(layer, tensors)` from a layer and its outputs in all calls to a tensor or a
            structure of tensors.

    Call arguments:
        inputs: the inputs of `model`.

    Returns:
        list of what `reduce` gives, in the order of `layers`.
    """

    def __init__(self, model, layers, reduce):
        super().__init__(name=f"probe_of_{model.name}")
        self.probed, self._operations, self._reduce = functional(model), list(layers), reduce

    def call(self, inputs):
        outputs = {operation: [] for operation in self._operations}

        def called(operation, *args, **kwargs):
            output = operation(*args, **kwargs)
            if operation in outputs:
                outputs[operation].append(output)
            return output

        inputs = self.probed._standardize_inputs(inputs)
        for tensor, value in zip(self.probed.inputs, inputs, strict=True):
            outputs.setdefault(tensor._keras_history.operation, []).append(value)
        run(self.probed, inputs, called)
        return [self._reduce(operation, outputs[operation]) for operation in self._operations]


def run(model, inputs, called):
    """Runs a model, with a function in place of the calls of its layers, at any depth of nested models.

    Args:
        model: `keras.Model`, a Functional graph.
        inputs: its inputs.
        called: function `(operation, *args, **kwargs)` that returns what the operation computes.

    Returns:
        The outputs of `model`.
    """

    def called_inside(operation, *args, **kwargs):
        if is_nested(operation):
            return run(functional(operation), args[0], called)
        return called(operation, *args, **kwargs)

    return model._run_through_graph(inputs, call_fn=called_inside)
