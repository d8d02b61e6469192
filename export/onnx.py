"""Makes an ONNX artifact of a Keras model, and proves that ONNX Runtime computes the same.

python -m export.onnx --model=M.keras --output=M.onnx
"""

from absl import flags

from command_line import bounded, commands
from export.converting import options, summary
from hsvit_runtime.presets import ONNX_OPSETS, ONNX_PRESETS, ONNX_TENSOR_TYPES

FLAGS = flags.FLAGS


def define_flags():
    options.define_flags()
    options.define_comparison_flags()
    options.define_calibration_flags()
    meanings = "; ".join(f"{name}: {preset.meaning}" for name, preset in ONNX_PRESETS.items())
    flags.DEFINE_enum("preset", "float32", list(ONNX_PRESETS), meanings)
    bounded.batch(0)
    bounded.integer("opset", ONNX_OPSETS[0], "Version of the ONNX operators.", *ONNX_OPSETS)
    flags.DEFINE_enum("input_type", "float32", ONNX_TENSOR_TYPES, "For int8: the type of the input.")
    flags.DEFINE_enum("output_type", "float32", ONNX_TENSOR_TYPES, "For int8: the type of the outputs.")
    flags.DEFINE_bool("probabilities", False, "Put a softmax behind the logits of a classifier.")


def main(_):
    from hsvit_keras import to_onnx
    from hsvit_keras.backends import require_backend
    from hsvit_keras.model_files import load_model

    require_backend("tensorflow")
    model = load_model(FLAGS.model)
    report = to_onnx(
        model,
        FLAGS.output,
        preset=FLAGS.preset,
        **options.comparison_for(model, FLAGS.batch),
        batch_size=FLAGS.batch or None,
        opset=FLAGS.opset,
        input_type=FLAGS.input_type,
        output_type=FLAGS.output_type,
        probabilities=FLAGS.probabilities,
    )
    print("\n".join(summary.lines(FLAGS.output, report)))


if __name__ == "__main__":
    define_flags()
    commands.run(main)
