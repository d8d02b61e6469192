"""Runs `.tflite` files by LiteRT's interpreter on the CPU."""

import dataclasses
import functools
import pathlib
import time

import numpy as np

from hsvit_runtime import input_files
from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import tflite_file
from hsvit_runtime.native_output import quietly
from hsvit_runtime.runnable import Runnable, Tensor

_ACTIVATIONS = {"SOFTMAX": "softmax", "LOGISTIC": "sigmoid"}
_TRANSPARENT = ("DEQUANTIZE", "QUANTIZE", "RESHAPE")  # ops that give the values that they take


class TFLiteModel(Runnable):
    """A `.tflite` file, loaded by LiteRT.

    Args:
        path_or_content: path of the file, or its bytes.
        threads: int, number of CPU threads.
        delegate: bool, whether the XNNPACK delegate runs the ops that it supports; LiteRT's own kernels run
            all others.

    Raises:
        MissingFileError: there is no such file.
        InputError: LiteRT does not load it.
    """

    def __init__(self, path_or_content, *, threads=1, delegate=True):
        interpreter, self.init_ms = _load(path_or_content, threads, delegate)
        self._set_interpreter(interpreter, path_or_content, threads)

    def _set_interpreter(self, interpreter, path_or_content, threads, signature=None):
        """Sets all attributes; with `signature`, the inputs and outputs of that signature."""
        import ai_edge_litert

        from hsvit_runtime import metadata

        self._interpreter = interpreter
        self._runner = interpreter.get_signature_runner(signature) if signature else None
        details = self._runner or self._interpreter
        inputs, outputs = details.get_input_details(), details.get_output_details()
        if signature:  # details are dicts whose keys are the names in the signature
            inputs, outputs = (
                [{**tensor, "name": name} for name, tensor in side.items()] for side in (inputs, outputs)
            )
        self._input_indices = {tensor["name"]: tensor["index"] for tensor in inputs}
        self._output_indices = {tensor["name"]: tensor["index"] for tensor in outputs}
        self.inputs = tuple(map(_input, inputs))
        self.outputs = tuple(map(_tensor, outputs))
        self._path_or_content = path_or_content
        self.description = metadata.read_description(path_or_content)
        self.runtime = {"name": "LiteRT Interpreter", "version": ai_edge_litert.__version__}
        self.threads_used = threads
        self.delegation = _delegation(self._interpreter)

    @functools.cached_property
    def activation(self):
        source = self._path_or_content
        content = source if isinstance(source, bytes) else pathlib.Path(source).read_bytes()
        outputs = tflite_file.read(content, "the model").subgraphs[0].outputs
        last = outputs[0].source if len(outputs) == 1 else None
        while last is not None and last.kind in _TRANSPARENT:
            last = last.inputs[0].source
        return None if last is None else _ACTIVATIONS.get(last.kind)

    def run(self, inputs):
        if self._runner:
            return self._runner(**inputs)
        self._fit_batch(inputs)
        for name, index in self._input_indices.items():
            self._interpreter.set_tensor(index, np.ascontiguousarray(inputs[name]))
        self._interpreter.invoke()
        return {name: self._interpreter.get_tensor(index) for name, index in self._output_indices.items()}

    def _fit_batch(self, inputs):
        """Resizes inputs that are open to the sizes of the given tensors."""
        resized = False
        for tensor in self.inputs:
            index, shape = self._input_indices[tensor.name], inputs[tensor.name].shape
            current_shape = self._interpreter._get_tensor_details(index, 0)["shape"]
            if None in tensor.shape and tuple(current_shape) != shape:
                self._interpreter.resize_tensor_input(index, shape)
                resized = True
        if resized:
            try:
                self._interpreter.allocate_tensors()
            except (ValueError, RuntimeError) as error:
                shapes = ", ".join(str(array.shape) for array in inputs.values())
                raise InputError(
                    f"the model cannot be run on inputs of {shapes}: {' '.join(str(error).split())}"
                ) from error


def _load(path_or_content, threads, delegate):
    """(interpreter with allocated tensors, milliseconds to load it)."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    is_content = isinstance(path_or_content, bytes)
    name = "the file" if is_content else pathlib.Path(path_or_content)
    if not is_content:
        input_files.check(path_or_content, "model file", may_be_empty=True)
    given = {"model_content": path_or_content} if is_content else {"model_path": str(path_or_content)}
    if not delegate:
        given["experimental_op_resolver_type"] = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    try:
        with quietly():  # the first interpreter of a process also starts the runtime, which logs a message
            _allocate(Interpreter(**given, num_threads=threads))
        start = time.perf_counter()
        interpreter = Interpreter(**given, num_threads=threads)
        _allocate(interpreter)
        taken = time.perf_counter() - start
        interpreter._get_ops_details()  # reads the names of all tensors
        return interpreter, 1e3 * taken
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: the name of a tensor is not in UTF-8, so the file is damaged") from error
    except (ValueError, RuntimeError) as error:
        raise InputError(f"{name} does not load in LiteRT: {' '.join(str(error).split())}") from error


def _allocate(interpreter):
    """Allocates the tensors; those of images of any size, stored as 1 x 1, may have to wait."""
    try:
        interpreter.allocate_tensors()
    except (ValueError, RuntimeError):
        if not any(None in _input(details).shape[1:] for details in interpreter.get_input_details()):
            raise


def open_signatures(path_or_content, *, threads=1):
    """Opens all signatures of a file in one interpreter, so that they share its weights.

    Args:
        path_or_content: path of a `.tflite` file, or its bytes.
        threads: int, number of CPU threads.

    Returns:
        dict from a signature's name to its `TFLiteModel`.

    Raises:
        MissingFileError: there is no such file.
        InputError: LiteRT does not load it.
    """
    interpreter, init_ms = _load(path_or_content, threads, delegate=True)
    models = {}
    for name in interpreter.get_signature_list():
        models[name] = TFLiteModel.__new__(TFLiteModel)
        models[name].init_ms = init_ms
        models[name]._set_interpreter(interpreter, path_or_content, threads, name)
    return models


def _tensor(details):
    scale, zero_point = details["quantization"]
    signature = details.get("shape_signature", details["shape"])
    return Tensor(
        name=details["name"],
        shape=tuple(None if size == -1 else int(size) for size in signature),
        dtype=np.dtype(details["dtype"]),
        scale=float(scale) if scale else None,
        zero_point=int(zero_point) if scale else None,
    )


def _input(details):
    """An input; images of 1 x 1 pixels are those of a file that takes any size and has lost what says so."""
    tensor = _tensor(details)
    if len(tensor.shape) != 4 or tensor.shape[1:3] != (1, 1):
        return tensor
    return dataclasses.replace(tensor, shape=(tensor.shape[0], None, None, tensor.shape[3]))


def _delegation(interpreter):
    """Which part of the graph the delegate runs, see `Runnable`."""
    operators = interpreter._get_ops_details()
    delegates = [operator for operator in operators if operator["op_name"] == "DELEGATE"]
    # A delegate's node is listed after the operators that it replaces, and writes the same tensors. So the
    # operator that runs is the last one that writes a tensor.
    writers = {tensor: operator for operator in operators for tensor in operator["outputs"]}
    running, tensors = {}, [output["index"] for output in interpreter.get_output_details()]
    while tensors:
        operator = writers.get(tensors.pop())
        if operator is not None and operator["index"] not in running:
            running[operator["index"]] = operator
            tensors += list(operator["inputs"])
    total = len(operators) - len(delegates)
    return {
        "delegate": "XNNPACK" if delegates else None,
        "partitions": len(delegates),
        "nodes_delegated": total - sum(operator["op_name"] != "DELEGATE" for operator in running.values()),
        "nodes_total": total,
    }
