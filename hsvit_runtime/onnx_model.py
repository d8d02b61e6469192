"""Runs `.onnx` files by ONNX Runtime on the CPU."""

import pathlib
import time

import numpy as np

from hsvit_runtime import input_files, json_files
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError, MissingPackageError
from hsvit_runtime.json_schemas import mapping, record
from hsvit_runtime.runnable import Runnable, Tensor

# The file's metadata properties: a `Description` as JSON; and of inputs and outputs of integers, a dict from
# their names to `{"scale": float, "zero_point": int}`.
DESCRIPTION = "hsvit_description"
GRIDS = "hsvit_quantization"


_SCALE = {"type": "number", "exclusiveMinimum": 0, "maximum": 1e30}
_GRIDS = mapping(record(scale=_SCALE, zero_point={"type": "integer", "minimum": -(2**31), "maximum": 2**31}))


class OnnxModel(Runnable):
    """An `.onnx` file, loaded by ONNX Runtime.

    Args:
        path_or_content: path of the file, or its bytes.
        threads: int, number of CPU threads.

    Raises:
        MissingFileError: there is no such file.
        FileError: it is no ordinary file that can be read.
        InputError: ONNX Runtime does not load the file, or not all inputs and outputs are numbers.
        MissingPackageError: ONNX Runtime is not installed.
    """

    def __init__(self, path_or_content, *, threads=1):
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingPackageError("running .onnx files needs: pip install onnxruntime") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        # Keeps sums of 8-bit products from overflowing on x86 processors without VNNI.
        options.add_session_config_entry("session.x64quantprecision", "1")
        name = "the file" if isinstance(path_or_content, bytes) else pathlib.Path(path_or_content)
        given = path_or_content if isinstance(path_or_content, bytes) else str(path_or_content)
        if not isinstance(path_or_content, bytes):
            input_files.check(path_or_content, "model file", may_be_empty=True)
        start = time.perf_counter()
        try:
            self._session = onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's error classes have no common base
            reason = " ".join(str(error).split())[:300]
            if "INVALID_PROTOBUF" in reason:
                reason = "it is damaged, or no ONNX file"
            raise InputError(f"{name} does not load in ONNX Runtime: {reason}") from error
        self.init_ms = 1e3 * (time.perf_counter() - start)
        properties = self._session.get_modelmeta().custom_metadata_map
        grids = _property(properties, GRIDS, name, _grids)
        self.inputs = tuple(_tensor(argument, name, grids) for argument in self._session.get_inputs())
        self.outputs = tuple(_tensor(argument, name, grids) for argument in self._session.get_outputs())
        self.description = _property(properties, DESCRIPTION, name, Description.from_json)
        self.runtime = {"name": "ONNX Runtime", "version": onnxruntime.__version__}
        self.threads_used = threads

    def run(self, inputs):
        names = [tensor.name for tensor in self.outputs]
        return dict(zip(names, self._session.run(names, inputs), strict=True))


def _tensor(argument, name, grids):
    kind = argument.type.removeprefix("tensor(").removesuffix(")")
    try:
        dtype = np.dtype({"float": "float32", "double": "float64"}.get(kind, kind))
    except TypeError as error:
        raise InputError(f"{argument.name!r} of {name} is no tensor of numbers: {argument.type}") from error
    shape = tuple(size if isinstance(size, int) else None for size in argument.shape)
    grid = grids.get(argument.name, {})
    return Tensor(argument.name, shape, dtype, grid.get("scale"), grid.get("zero_point"))


def _grids(content):
    json_files.check(content, _GRIDS, "the quantization")
    return content


def _property(properties, key, name, read):
    """What a metadata property says, by `read`, a function of the dict that it holds."""
    try:
        return read(json_files.parse(properties.get(key, "{}").encode(), "its JSON"))
    except InputError as error:
        raise InputError(f"{name} has a {key.removeprefix('hsvit_')} that is damaged: {error}") from error
