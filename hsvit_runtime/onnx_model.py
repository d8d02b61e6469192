"""Runs `.onnx` files by ONNX Runtime on the CPU."""

import json
import pathlib
import time

import numpy as np

from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError
from hsvit_runtime.runnable import Runnable, Tensor

DESCRIPTION = "hsvit_description"  # the file's metadata property that holds a `Description` as JSON


class OnnxModel(Runnable):
    """An `.onnx` file, loaded by ONNX Runtime.

    Args:
        path_or_content: path of the file, or its bytes.
        threads: int, number of CPU threads.

    Raises:
        InputError: ONNX Runtime cannot load the file.
    """

    def __init__(self, path_or_content, *, threads=1):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        given = path_or_content if isinstance(path_or_content, bytes) else str(path_or_content)
        start = time.perf_counter()
        try:
            self._session = onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's error classes have no common base
            name = "the file" if isinstance(given, bytes) else pathlib.Path(given)
            raise InputError(
                f"{name} does not load in ONNX Runtime: {' '.join(str(error).split())[:300]}"
            ) from error
        self.init_ms = 1e3 * (time.perf_counter() - start)
        self.inputs = tuple(map(_tensor, self._session.get_inputs()))
        self.outputs = tuple(map(_tensor, self._session.get_outputs()))
        properties = self._session.get_modelmeta().custom_metadata_map
        self.description = Description.from_json(json.loads(properties.get(DESCRIPTION, "{}")))
        self.runtime = {"name": "ONNX Runtime", "version": onnxruntime.__version__}
        self.threads_used = threads

    def run(self, inputs):
        names = [tensor.name for tensor in self.outputs]
        return dict(zip(names, self._session.run(names, inputs), strict=True))


def _tensor(argument):
    name = argument.type.removeprefix("tensor(").removesuffix(")")
    dtype = np.dtype({"float": "float32", "double": "float64", "bool": "bool"}.get(name, name))
    shape = tuple(size if isinstance(size, int) else None for size in argument.shape)
    return Tensor(argument.name, shape, dtype)
