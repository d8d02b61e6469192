"""Makes a LiteRT (TFLite) artifact of a Keras model, and proves that it answers alike.

python -m export.tflite --model=M.keras --preset=dynamic --output=M.tflite
"""

import dataclasses
import re
import warnings

import numpy as np
from absl import flags

from command_line import commands
from hsvit_keras.artifacts import writing
from hsvit_runtime.errors import InputError
from hsvit_runtime.litert import depthwise_kernels
from hsvit_runtime.native_output import quietly

FLAGS = flags.FLAGS


@dataclasses.dataclass(frozen=True)
class Preset:
    """How a preset stores weights and computes, and how far its answers may be from Keras'.

    Attributes:
        meaning: str, one line for people.
        limits: dict, see `writing.check_parity`.
        optimize: bool, whether the converter quantizes.
        float16_weights: bool, whether that means half precision instead of 8 bits.
    """

    meaning: str
    limits: dict
    optimize: bool = True
    float16_weights: bool = False


PRESETS = {
    "float32": Preset("as trained", {"max_abs_diff": 2e-5}, optimize=False),
    "float16": Preset("half the size, computed in float32", {"cosine": 0.9999}, float16_weights=True),
    "dynamic": Preset("8-bit weights, activations quantized while running", {"cosine": 0.999}),
    "int8": Preset("8-bit weights and activations, by the ranges of the model", {"cosine": 0.999}),
}
# Older runtimes refuse Dense layers that are quantized for each output apart.
_FIRST_WITH_PER_CHANNEL_DENSE = (2, 17)


def define_flags():
    writing.define_flags()
    define_preset_flags()
    flags.DEFINE_bool("integer_io", False, "For int8: take and give 8-bit integers instead of floats.")


def define_preset_flags():
    """The flags that tell how weights are stored, and for which runtime."""
    meanings = "; ".join(f"{name}: {preset.meaning}" for name, preset in PRESETS.items())
    flags.DEFINE_enum("preset", "dynamic", list(PRESETS), meanings)
    flags.DEFINE_string("runtime", None, "Oldest runtime that has to load the file, such as 2.16.")
    flags.DEFINE_string(
        "calibration_data", None, "For int8: image set whose training part sets the model's ranges anew."
    )
    flags.DEFINE_integer("calibration_samples", 512, "How many images of it.", lower_bound=1)


def main(_):
    report = export(
        writing.request_of_flags(),
        FLAGS.preset,
        FLAGS.runtime,
        FLAGS.integer_io,
        calibration_of_flags(),
    )
    _print_summary(FLAGS.output, report)


def calibration_of_flags():
    """The `Calibration` of the command line, None without one."""
    return Calibration(FLAGS.calibration_data, FLAGS.calibration_samples) if FLAGS.calibration_data else None


def export(request, preset="dynamic", runtime=None, integer_io=False, calibration=None):
    """Writes an artifact with its report.

    Args:
        request: `writing.Request`.
        preset: str, one of `PRESETS`.
        runtime: str such as "2.16", the oldest runtime that has to load it; the current one by default.
        integer_io: bool, for int8, whether it takes and gives 8-bit integers instead of floats.
        calibration: `Calibration`, for int8; needed where the model has no ranges.

    Returns:
        dict, the report that was written.

    Raises:
        ValueError: the model cannot be held, the artifact answers differently, or would not load.
        OSError: a file cannot be read or written.
    """
    oldest = version(runtime)
    if preset != "int8" and (integer_io or calibration):
        raise InputError(f"integer_io and calibration_data are for preset=int8; received preset={preset}")

    def quantized(model, mean, std):
        return with_ranges(model, request, calibration, mean, std)

    def make(lowered):
        content = convert(lowered, preset, oldest, integer_io)
        facts = {"preset": preset, **facts_of(content, runtime)}
        return content, facts, runner(content), PRESETS[preset].limits

    return writing.run(request, ".tflite", make, quantized if preset == "int8" else None)


@dataclasses.dataclass(frozen=True)
class Calibration:
    """Which images set the ranges: a data set's name, and how many of its training part."""

    data: str
    samples: int = 512


def with_ranges(model, request, calibration, mean, std):
    """The model with ranges: its own, or those of the calibration images.

    Raises:
        ValueError: it has none, and no calibration images are named.
    """
    from data_sets import load_dataset, sample_batches
    from hsvit_keras import calibrate
    from hsvit_keras.compression.quantization import is_quantized

    if calibration is None:
        if not is_quantized(model):
            raise InputError(
                f"{request.model} has no ranges, which int8 needs: train it with hsvit_keras.quantize_aware, "
                "or name an image set that they can be taken from, such as --calibration_data=digits"
            )
        return model
    dataset = load_dataset(calibration.data, "train", request.data_dir)
    preparation = {"image_shape": model.input_shape[1:], "mean": mean, "std": std}
    return calibrate(model, sample_batches(dataset, calibration.samples, **preparation))


def convert(lowered, preset, runtime=None, integer_io=False):
    """The content of a `.tflite` file.

    Args:
        lowered: `keras.Model` with a fixed batch, made by `hsvit_keras.artifacts.lowering.lower`.
        preset: str, one of `PRESETS`.
        runtime: tuple of int, the oldest runtime that has to load it.
        integer_io: bool, whether input and output are 8-bit integers.

    Returns:
        bytes.

    Raises:
        ValueError: the model needs an operation that LiteRT does not have.
    """
    import tensorflow as tf

    signature = [tf.TensorSpec(lowered.input_shape, tf.float32, name="image")]
    serve = tf.function(lambda image: lowered(image, training=False), input_signature=signature)
    # The empty module is on purpose: handed the model, the converter would leave its weights outside.
    converter = tf.lite.TFLiteConverter.from_concrete_functions([serve.get_concrete_function()], tf.Module())
    if PRESETS[preset].optimize:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if PRESETS[preset].float16_weights:
        converter.target_spec.supported_types = [tf.float16]
    if integer_io:
        converter.inference_input_type = converter.inference_output_type = tf.int8
    converter._experimental_disable_per_channel_quantization_for_dense_layers = (
        runtime is not None and runtime < _FIRST_WITH_PER_CHANNEL_DENSE
    )
    with quietly(), warnings.catch_warnings():
        # Where the ranges are in the graph, the converter misses those that it is used to ask for.
        warnings.filterwarnings("ignore", message="Statistics for quantized inputs were expected")
        try:
            content = bytes(converter.convert())
        except Exception as error:  # the converter's own class, in a module that is not public
            refusal = error
        else:
            return depthwise_kernels.unpack(content)
    raise InputError(f"LiteRT cannot hold this model: {_unsupported(str(refusal))}") from refusal


def _unsupported(message):
    """What the converter's long message complains about."""
    missing = sorted(set(re.findall(r"'(tf\.\w+)' op is neither a custom op nor a flex op", message)))
    return f"it has no op for {', '.join(missing)}" if missing else " ".join(message.split())[:300]


def runner(content):
    """A function from a batch of images to the answers of a `.tflite` file's content, both of floats."""
    from ai_edge_litert.interpreter import Interpreter

    from hsvit_runtime.runners import dequantize, quantize

    with quietly():  # it announces its delegate
        interpreter = Interpreter(model_content=content)
        interpreter.allocate_tensors()
    (given,), (made,) = interpreter.get_input_details(), interpreter.get_output_details()

    def answer(images):
        values = quantize(np.ascontiguousarray(images), given["dtype"], *given["quantization"])
        interpreter.set_tensor(given["index"], values)
        interpreter.invoke()
        return dequantize(interpreter.get_tensor(made["index"]), *made["quantization"])

    return answer


def facts_of(content, runtime):
    """What the artifact is, as inspection sees it; raises `ValueError` if it would not run where asked."""
    from export.inspection import inspect

    found = inspect(content, runtime=runtime)
    if found["flex_ops"] or found["custom_ops"]:
        raise InputError(f"the artifact needs ops beyond LiteRT: {found['flex_ops'] + found['custom_ops']}")
    if found["loads_on_runtime"] is False:
        needs = ", ".join(f"{need['feature']} needs {need['runtime']}" for need in found["runtime_needs"])
        raise InputError(f"the artifact would not load on runtime {runtime}: {needs}")
    (given,), (made,) = found.pop("inputs"), found.pop("outputs")
    return {"input": given, "output": made, **found}


def version(text):
    """A runtime's version as numbers that can be compared; None for None."""
    try:
        return None if text is None else tuple(int(part) for part in text.split("."))
    except ValueError:
        raise InputError(
            f"a runtime is written as numbers with dots, such as 2.16; received {text!r}"
        ) from None


def _print_summary(output, report):
    print(f"wrote {output}: {report['preset']}, {report['bytes'] / 1e3:,.1f} kB")
    shape = " x ".join(map(str, report["input"]["shape"]))
    takes = "pixels of 0..255" if report["input"]["pixels"] else "normalized images"
    print(f"  takes {takes}, {shape}; loads from runtime {report['minimum_runtime']}")
    accelerated = "all of it" if report["fully_delegated"] else f"not {_undelegated(report)}"
    print(f"  {sum(report['ops'].values())} ops, {report['total_macs'] / 1e6:.1f} M MACs; ", end="")
    print(f"XNNPACK runs {accelerated} in {report['partitions']} partition(s)")
    writing.print_parity(report)


def _undelegated(report):
    return ", ".join(f"{op['count']} {op['op']} ({op['reason']})" for op in report["undelegated_ops"])


if __name__ == "__main__":
    define_flags()
    commands.run(main)
