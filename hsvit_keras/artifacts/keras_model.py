"""Keras models behind the interface of whatever runs, compiled by XLA for one batch size."""

import time

import keras
import numpy as np

from hsvit_keras.artifacts.model_outputs import activation_of, loss_of
from hsvit_keras.backends import require_backend
from hsvit_keras.compression.graph import functional
from hsvit_keras.compression.model_inputs import input_name
from hsvit_keras.layers.model_description import ModelDescription, description_of
from hsvit_keras.model_files import load_model
from hsvit_runtime.runnable import Runnable, Tensor, joined


class KerasModel(Runnable):
    """A Keras model that is run: through `tf.function` on TensorFlow, `jax.jit` on JAX.

    Args:
        model: `keras.Model`, or path of a `.keras` file.
        threads: int, CPU threads to ask for.
        batch_size: int, the batch that it is compiled for.

    Raises:
        InputError: the file is damaged, the model has no graph, or Keras runs on another backend.
        MissingFileError: there is no such file.
    """

    def __init__(self, model, *, threads=1, batch_size=1):
        require_backend("tensorflow", "jax")
        on_tensorflow = keras.backend.backend() == "tensorflow"
        self.threads_used = _limit_tensorflow(threads) if on_tensorflow else None
        start = time.perf_counter()
        model = model if isinstance(model, keras.Model) else load_model(model)
        self.activation, self.loss = activation_of(model), loss_of(model)
        model = functional(model)
        shapes = [(batch_size, *tensor.shape[1:]) for tensor in model.inputs]
        self._function = (_tensorflow_function if on_tensorflow else _jax_function)(model, shapes)
        self.init_ms = 1e3 * (time.perf_counter() - start)
        self.inputs = tuple(
            Tensor(input_name(tensor), shape, np.dtype(tensor.dtype))
            for tensor, shape in zip(model.inputs, shapes, strict=True)
        )
        self.outputs = tuple(
            Tensor(name, (batch_size, *tensor.shape[1:]), np.dtype("float32"))
            for name, tensor in zip(output_names(model), model.outputs, strict=True)
        )
        self.description = description_of(model)
        self.runtime = {"name": f"Keras on {keras.backend.backend()}, XLA", "version": keras.version()}

    def run(self, inputs):
        outputs = self._function([inputs[tensor.name] for tensor in self.inputs])
        return {tensor.name: output for tensor, output in zip(self.outputs, outputs, strict=True)}


def output_names(model, single="logits"):
    """Names of a model's outputs, in the order of `model.outputs`.

    Args:
        model: `keras.Model`.
        single: str, what the only output is called.

    Returns:
        list of str: the keys where the model gives a dict, else the names of the layers.
    """
    if isinstance(model.output, dict):
        return sorted(model.output)  # as Keras flattens a dict
    if len(model.outputs) == 1:
        return [single]
    names = [_computes(tensor).name for tensor in model.outputs]
    return [name if names.count(name) == 1 else f"{name}_{i}" for i, name in enumerate(names)]


def _computes(tensor):
    """The layer or operation that computes an output, which a description passes."""
    last = tensor._keras_history.operation
    return _computes(last.input) if isinstance(last, ModelDescription) else last


def predict(model, inputs, batch_size=128):
    """What Keras computes, many samples at a time and without compiling.

    Args:
        model: `keras.Model`.
        inputs: dict from an input's name to an array (count, ...).
        batch_size: int; a model with a fixed batch keeps its own.

    Returns:
        dict from an output's name to a float32 array (count, ...).
    """
    size = model.inputs[0].shape[0] or batch_size
    arrays = [np.asarray(inputs[input_name(tensor)], tensor.dtype) for tensor in model.inputs]
    parts = []
    for start in range(0, len(arrays[0]), size):
        given = [array[start : start + size] for array in arrays]
        outputs = keras.tree.flatten(model(keras.tree.pack_sequence_as(model.input, given), training=False))
        parts.append([np.asarray(keras.ops.convert_to_numpy(output), "float32") for output in outputs])
    named = zip(output_names(model), zip(*parts, strict=True), strict=True)
    return {name: joined(name, outputs) for name, outputs in named}


def _limit_tensorflow(threads):
    """Asks for CPU threads, and for the CPU alone. TensorFlow listens only before its first computation."""
    import tensorflow as tf

    try:
        tf.config.set_visible_devices([], "GPU")
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    except RuntimeError:
        pass  # the threads in use are reported, and the caller warns
    return tf.config.threading.get_intra_op_parallelism_threads() or None


def _tensorflow_function(model, shapes):
    import tensorflow as tf

    signature = [
        tf.TensorSpec(shape, tensor.dtype) for shape, tensor in zip(shapes, model.inputs, strict=True)
    ]

    def call(*inputs):
        outputs = model(keras.tree.pack_sequence_as(model.input, inputs), training=False)
        return [tf.cast(output, "float32") for output in keras.tree.flatten(outputs)]

    compiled = tf.function(call, input_signature=signature, jit_compile=True).get_concrete_function()
    return lambda arrays: [output.numpy() for output in compiled(*map(tf.constant, arrays))]


def _jax_function(model, shapes):
    import jax

    cpu = jax.devices("cpu")[0]
    variables = [
        jax.device_put([variable.value for variable in group], cpu)
        for group in (model.trainable_variables, model.non_trainable_variables)
    ]

    def call(inputs):
        given = keras.tree.pack_sequence_as(model.input, inputs)
        outputs, _ = model.stateless_call(*variables, given, training=False)
        return [output.astype("float32") for output in keras.tree.flatten(outputs)]

    compiled = jax.jit(call)
    return lambda arrays: [np.asarray(output) for output in compiled(jax.device_put(arrays, cpu))]
