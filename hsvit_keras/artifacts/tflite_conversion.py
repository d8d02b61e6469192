"""From a lowered Keras model to the content of a `.tflite` file, by TensorFlow's converter."""

import re
import warnings

from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import eight_bit_kernels, older_ops
from hsvit_runtime.native_output import quietly
from hsvit_runtime.presets import PRESETS

# Older runtimes refuse Dense layers quantized for each output apart, and their XNNPACK has fewer ops.
_FIRST_OF_TODAYS_FORM = (2, 17)


def convert(lowered, preset, *, runtime=None, input_type="float32", output_type="float32"):
    """The content of a `.tflite` file.

    Args:
        lowered: `keras.Model` made by `hsvit_keras.artifacts.lowering.lower`.
        preset: str, one of `PRESETS`.
        runtime: str such as "2.16", the oldest runtime that has to load it; the current one by default.
        input_type: str, one of `TENSOR_TYPES`: integers are for models whose activations are quantized.
        output_type: str, the same for the outputs.

    Returns:
        bytes. Inputs and outputs are in the order of `lowered.inputs` and `lowered.outputs`.

    Raises:
        InputError: the model needs an operation that LiteRT does not have.
    """
    import tensorflow as tf

    is_old = is_older(runtime)
    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        # The empty module is on purpose: handed the model, the converter would leave its weights outside.
        [concrete_function(lowered)],
        tf.Module(),
    )
    if PRESETS[preset].weights != "float32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if PRESETS[preset].weights == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if input_type != "float32":
        converter.inference_input_type = tf.dtypes.as_dtype(input_type)
    if output_type != "float32":
        converter.inference_output_type = tf.dtypes.as_dtype(output_type)
    converter._experimental_disable_per_channel_quantization_for_dense_layers = is_old
    with quietly(), warnings.catch_warnings():
        # Where the ranges are in the graph, the converter misses those that it is used to ask for.
        warnings.filterwarnings("ignore", message="Statistics for quantized inputs were expected")
        try:
            content = bytes(converter.convert())
        except Exception as error:  # the converter's own class, in a module that is not public
            refusal = error
        else:
            return older_ops.replace(content) if is_old else eight_bit_kernels.unpack(content)
    raise InputError(f"LiteRT cannot hold this model: {_unsupported(str(refusal))}") from refusal


def concrete_function(lowered):
    """The graph of a model as a TensorFlow function of its inputs, by position, to its outputs as a list."""
    import tensorflow as tf

    signature = [
        tf.TensorSpec(tensor.shape, tensor.dtype, name=tensor._keras_history.operation.name)
        for tensor in lowered.inputs
    ]

    def serve(*inputs):
        outputs = lowered(tf.nest.pack_sequence_as(lowered.input, inputs), training=False)
        return tf.nest.flatten(outputs)

    return tf.function(serve, input_signature=signature).get_concrete_function()


def is_older(runtime):
    """Whether files for a runtime, None for the current one, are made in the form for older ones.

    Raises:
        InputError: it is no version.
    """
    oldest = parse_version(runtime)
    return oldest is not None and oldest < _FIRST_OF_TODAYS_FORM


def parse_version(runtime):
    """A runtime's version as a tuple of int that can be compared; None for None.

    Raises:
        InputError: it is no version.
    """
    try:
        return None if runtime is None else tuple(int(part) for part in runtime.split("."))
    except ValueError:
        raise InputError(
            f"a runtime is written as numbers with dots, such as 2.16; received {runtime!r}"
        ) from None


def _unsupported(message):
    """What the converter's long message complains about."""
    missing = sorted(set(re.findall(r"'(tf\.\w+)' op is neither a custom op nor a flex op", message)))
    return f"it has no op for {', '.join(missing)}" if missing else " ".join(message.split())[:300]
