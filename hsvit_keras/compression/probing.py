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

        def call(operation, *args, **kwargs):
            output = operation(*args, **kwargs)
            if operation in outputs:
                outputs[operation].append(output)
            return output

        for tensor, value in zip(self.probed.inputs, self.probed._standardize_inputs(inputs), strict=True):
            outputs.setdefault(tensor._keras_history.operation, []).append(value)
        run_graph(self.probed, inputs, call)
        return [self._reduce(operation, outputs[operation]) for operation in self._operations]


def run_graph(model, inputs, call):
    """Computes a model by a function that is called for each of its layers and operations, at any depth.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.
        inputs: the inputs of `model`.
        call: function `(operation, *args, **kwargs)` that gives the outputs of an operation.

    Returns:
        The outputs of the model.
    """

    def called(operation, *args, **kwargs):
        if is_nested(operation):
            return functional(operation)._run_through_graph(args[0], call_fn=called)
        return call(operation, *args, **kwargs)

    model = functional(model)
    return model._run_through_graph(model._standardize_inputs(inputs), call_fn=called)
