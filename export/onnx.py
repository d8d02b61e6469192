"""Makes an ONNX artifact of a Keras model, and proves that ONNX Runtime answers alike.

python -m export.onnx --model=M.keras --output=M.onnx
"""

import collections
import hashlib
import logging

from absl import flags

from command_line import commands
from hsvit_keras.artifacts import writing
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS

OPSET = 17
LIMITS = {"max_abs_diff": 1e-4}


def define_flags():
    writing.define_flags()
    flags.DEFINE_integer("opset", OPSET, "Version of the ONNX operators.", lower_bound=OPSET)


def main(_):
    report = export(writing.request_of_flags(), FLAGS.opset)
    print(f"wrote {FLAGS.output}: ONNX opset {report['opset']}, {report['bytes'] / 1e3:,.1f} kB")
    writing.print_parity(report)


def export(request, opset=OPSET):
    """Writes an artifact with its report.

    Args:
        request: `writing.Request`.
        opset: int, version of the ONNX operators.

    Returns:
        dict, the report that was written.

    Raises:
        ValueError: the model cannot be held, or the artifact answers differently.
        OSError: a file cannot be read or written.
    """

    def make(lowered):
        content = convert(lowered, opset)
        return content, _facts(content), runner(content), LIMITS

    return writing.run(request, ".onnx", make)


def convert(lowered, opset=OPSET):
    """The content of an `.onnx` file.

    Args:
        lowered: `keras.Model` with a fixed batch, made by `hsvit_keras.artifacts.lowering.lower`.
        opset: int, version of the ONNX operators.

    Returns:
        bytes.

    Raises:
        ValueError: the model has an operation that ONNX or the converter does not know.
    """
    import onnx
    import tensorflow as tf
    import tf2onnx

    logging.getLogger("tf2onnx").setLevel(logging.WARNING)
    signature = [tf.TensorSpec(lowered.input_shape, tf.float32, name="image")]
    serve = tf.function(lambda image: {"logits": lowered(image, training=False)}, input_signature=signature)
    try:
        proto, _ = tf2onnx.convert.from_function(serve, signature, opset=opset)
        onnx.checker.check_model(proto, full_check=True)
    except Exception as error:  # neither package has a common class for what it refuses
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"ONNX cannot hold this model at opset {opset}: {reason}") from error
    return proto.SerializeToString()


def runner(content):
    """A function from a batch of images to the answers of an `.onnx` file's content."""
    import onnxruntime

    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda images: session.run(None, {name: images.astype("float32")})[0]


def _facts(content):
    import onnx

    model = onnx.load_from_string(content)
    return {
        "preset": "onnx",
        "opset": next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "input": _tensor(model.graph.input[0]),
        "output": _tensor(model.graph.output[0]),
        "ops": dict(collections.Counter(node.op_type for node in model.graph.node)),
    }


def _tensor(value):
    import onnx

    tensor = value.type.tensor_type
    return {
        "name": value.name,
        "shape": [axis.dim_value for axis in tensor.shape.dim],
        "dtype": onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name,
    }


if __name__ == "__main__":
    define_flags()
    commands.run(main)
