"""A saved model as something that answers one picture at a time: Keras and LiteRT behind one face.

    runner = open_runner("model.tflite")
    answer = runner(runner.prepare(picture))

A picture is float32 (1, H, W, C) in 0..1. `prepare` turns it into what this model takes (normalized
floats, pixels of 0..255, integers) and is no part of a latency. Calling the runner hands that over,
runs the model and fetches the answer (1, classes) as floats, and is.
"""

import hashlib
import json
import pathlib
import time

import numpy as np

from hsvit_keras import model_files
from hsvit_keras.backends import require_backend
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.native_output import quietly

SUFFIXES = (".keras", ".tflite")


def open_runner(path, *, threads=1, mean=0.0, std=1.0):
    """Loads a model.

    Args:
        path: str or path of a `.keras` or `.tflite` file.
        threads: int. CPU threads to ask the runtime for.
        mean: float or a float for each channel, in 0..1. Subtracted from a picture.
        std: float or a float for each channel, in 0..1. Divides it after that.

    Returns:
        A `Runner`.

    Raises:
        ValueError: the file is of another kind, is damaged, or is no image classifier.
        FileNotFoundError: there is no such file.
    """
    path = pathlib.Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(f"cannot run {path}: its name must end in {' or '.join(SUFFIXES)}")
    if not path.is_file():
        raise MissingFileError(f"there is no model file {path}")
    return (KerasRunner if path.suffix == ".keras" else TFLiteRunner)(path, threads, mean, std)


class Runner:
    """What all runners have.

    Attributes:
        input_shape: tuple (1, H, W, C).
        num_classes: int.
        input_dtype: NumPy dtype.
        pixels: bool. Whether the model takes 0..255 and normalizes by itself.
        mean, std: arrays, the normalization: of `prepare`, or inside the model if it takes pixels.
        init_ms: float. Reading the file, allocating memory, building the graph.
        threads_used: int, None where the runtime does not tell.
        runtime: dict `{name, version}`.
        delegation: dict `{delegate, partitions, nodes_delegated, nodes_total}`.
    """

    pixels = False
    input_dtype = np.dtype("float32")
    delegation = dict.fromkeys(("delegate", "partitions", "nodes_delegated", "nodes_total"))

    def __init__(self, path, mean, std, input_shape, output_shape):
        input_shape, output_shape = map(_plain_shape, (input_shape, output_shape))
        if len(input_shape) == 4 and input_shape[0] not in (None, 1):
            raise InputError(
                f"{path} takes {input_shape[0]} images at once, {input_shape}, and single ones are to be "
                "measured: convert the model with --batch=1"
            )
        if len(input_shape) != 4 or None in input_shape[1:]:
            raise InputError(f"{path} must take images (1, H, W, C), it takes {input_shape}")
        if len(output_shape) != 2:
            raise InputError(f"{path} must answer with (1, classes), it answers with {output_shape}")
        self.input_shape = (1, *input_shape[1:])
        self.num_classes = output_shape[-1]
        self.mean, self.std = np.asarray(mean, "float32"), np.asarray(std, "float32")
        model_files.check_normalization(self.mean, self.std, self.input_shape[-1])

    def prepare(self, picture):
        return ((picture - self.mean) / self.std).astype("float32")


def _plain_shape(shape):
    return tuple(None if size is None else int(size) for size in shape)


class KerasRunner(Runner):
    """A `.keras` file, compiled for batch 1 by XLA: through `tf.function` on TensorFlow, `jax.jit` on JAX."""

    def __init__(self, path, threads, mean, std):
        require_backend("tensorflow", "jax")
        import keras

        on_tensorflow = keras.backend.backend() == "tensorflow"
        self.threads_used = _limit_tensorflow(threads) if on_tensorflow else None
        start = time.perf_counter()
        model = model_files.load_model(path)
        if len(model.inputs) != 1 or len(model.outputs) != 1:
            raise InputError(f"{path} must have one input and one output")
        super().__init__(path, mean, std, model.input_shape, model.output_shape)
        self._function = (_tensorflow_function if on_tensorflow else _jax_function)(model)
        self.init_ms = 1e3 * (time.perf_counter() - start)
        self.runtime = {"name": f"Keras on {keras.backend.backend()}, XLA", "version": keras.version()}

    def __call__(self, prepared):
        return self._function(prepared)


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


def _tensorflow_function(model):
    import tensorflow as tf

    signature = [tf.TensorSpec((1, *model.input_shape[1:]), "float32")]
    compiled = tf.function(lambda x: model(x, training=False), input_signature=signature, jit_compile=True)
    concrete = compiled.get_concrete_function()
    return lambda prepared: concrete(tf.constant(prepared)).numpy()


def _jax_function(model):
    import jax

    cpu = jax.devices("cpu")[0]
    variables = [
        jax.device_put([variable.value for variable in group], cpu)
        for group in (model.trainable_variables, model.non_trainable_variables)
    ]
    compiled = jax.jit(lambda x: model.stateless_call(*variables, x, training=False)[0])
    return lambda prepared: np.asarray(compiled(jax.device_put(prepared, cpu)))


class TFLiteRunner(Runner):
    """A `.tflite` file in LiteRT's interpreter.

    The converter's report beside the file (`M.json` of `M.tflite`) may say how images are normalized,
    and that the model does it itself; then it takes pixels. A report about another file is not believed.
    """

    def __init__(self, path, threads, mean, std):
        import ai_edge_litert
        from ai_edge_litert.interpreter import Interpreter

        try:
            with quietly():  # the first of a process also starts the runtime, which says so
                Interpreter(str(path), num_threads=threads).allocate_tensors()
            start = time.perf_counter()
            self._interpreter = Interpreter(str(path), num_threads=threads)
            self._interpreter.allocate_tensors()
            self.init_ms = 1e3 * (time.perf_counter() - start)
        except (ValueError, RuntimeError) as error:
            raise InputError(f"{path} does not load in LiteRT: {error}") from error
        inputs, outputs = self._interpreter.get_input_details(), self._interpreter.get_output_details()
        if len(inputs) != 1 or len(outputs) != 1:
            raise InputError(
                f"{path} must have one input and one output, it has {len(inputs)} and {len(outputs)}"
            )
        (self._input,), (self._output,) = inputs, outputs
        described = _described_input(path)
        self.pixels = described.get("pixels", False)
        mean, std = described.get("mean", mean), described.get("std", std)
        super().__init__(path, mean, std, self._input["shape"], self._output["shape"])
        self.input_dtype = np.dtype(self._input["dtype"])
        self.threads_used = threads
        self.runtime = {"name": "LiteRT Interpreter", "version": ai_edge_litert.__version__}
        self.delegation = delegation(self._interpreter)

    def prepare(self, picture):
        values = 255 * picture if self.pixels else super().prepare(picture)
        return quantize(values, self.input_dtype, *self._input["quantization"])

    def __call__(self, prepared):
        self._interpreter.set_tensor(self._input["index"], prepared)
        self._interpreter.invoke()
        return dequantize(self._interpreter.get_tensor(self._output["index"]), *self._output["quantization"])


def _described_input(model):
    """What the converter's report says of a model's input: whether it is pixels, and its mean and std."""
    report = model.with_suffix(".json")
    if not report.is_file():
        return {}
    try:
        content = json.loads(report.read_text())
    except ValueError as error:
        raise InputError(
            f"{report}, which should describe the model beside it, is no JSON: {error}"
        ) from error
    content = content if isinstance(content, dict) else {}
    if content.get("sha256") != hashlib.sha256(model.read_bytes()).hexdigest():
        return {}  # of an .onnx file of the same name, of an older model, or of something else
    return content.get("input", {})


def quantize(values, dtype, scale, zero_point):
    """Floats as a tensor of `dtype`: rounded to its grid and clipped to its range if it is an integer.

    A scale of 0 marks a tensor without a grid: integers then stand for themselves.
    """
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    levels = np.rint(values / (scale or 1.0)) + zero_point
    return np.clip(levels, limits.min, limits.max).astype(dtype)


def dequantize(levels, scale, zero_point):
    """The float32 numbers that a tensor's integers stand for; a scale of 0 marks a tensor without a grid."""
    levels = levels.astype("float32")
    return (levels - zero_point) * np.float32(scale) if scale else levels


def delegation(interpreter):
    """Which part of a graph the delegate runs.

    Args:
        interpreter: a LiteRT `Interpreter` with tensors allocated.

    Returns:
        dict `{delegate, partitions, nodes_delegated, nodes_total}`.
    """
    operators = interpreter._get_ops_details()
    delegates = [operator for operator in operators if operator["op_name"] == "DELEGATE"]
    # A delegate's node comes after the operators it has replaced, and writes the same tensors. So the
    # last writer of a tensor is the one that runs.
    writers = {tensor: operator for operator in operators for tensor in operator["outputs"]}
    running, wanted = {}, [output["index"] for output in interpreter.get_output_details()]
    while wanted:
        operator = writers.get(wanted.pop())
        if operator is not None and operator["index"] not in running:
            running[operator["index"]] = operator
            wanted += list(operator["inputs"])
    total = len(operators) - len(delegates)
    return {
        "delegate": "XNNPACK" if delegates else None,
        "partitions": len(delegates),
        "nodes_delegated": total - sum(operator["op_name"] != "DELEGATE" for operator in running.values()),
        "nodes_total": total,
    }
