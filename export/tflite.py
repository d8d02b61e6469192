"""Makes a LiteRT (TFLite) artifact of a Keras model, and proves that it computes the same.

python -m export.tflite --model=M.keras --preset=dynamic --output=M.tflite
"""

from absl import flags

from command_line import bounded, commands
from export.converting import options, summary
from hsvit_runtime.errors import InputError
from hsvit_runtime.presets import TENSOR_TYPES

FLAGS = flags.FLAGS


def define_flags():
    options.define_flags()
    options.define_comparison_flags()
    options.define_preset_flags()
    bounded.batch(1)
    flags.DEFINE_enum("input_type", "float32", TENSOR_TYPES, "For int8: the type of the input.")
    flags.DEFINE_enum("output_type", "float32", TENSOR_TYPES, "For int8: the type of the outputs.")
    flags.DEFINE_bool("probabilities", None, "Put a softmax behind the logits; the default for classifiers.")
    flags.DEFINE_bool("logits", False, "Keep the logits of a classifier.")
    bounded.integer(
        "detections",
        None,
        "Best detections of a detector, given in place of all its boxes and logits.",
        1,
        10_000,
    )
    flags.DEFINE_string("author", None, "Author, for the file's metadata.")
    flags.DEFINE_string("licence", None, "Licence, for the file's metadata.")


def main(_):
    from hsvit_keras import to_tflite
    from hsvit_keras.backends import require_backend
    from hsvit_keras.model_files import load_model

    require_backend("tensorflow")
    if FLAGS.logits and FLAGS.probabilities:
        raise InputError("--logits and --probabilities exclude each other")
    model = load_model(FLAGS.model)
    report = to_tflite(
        model,
        FLAGS.output,
        preset=FLAGS.preset,
        **options.comparison_for(model, FLAGS.batch),
        batch_size=FLAGS.batch or None,
        runtime=FLAGS.runtime,
        input_type=FLAGS.input_type,
        output_type=FLAGS.output_type,
        probabilities=False if FLAGS.logits else FLAGS.probabilities,
        detections=FLAGS.detections,
        author=FLAGS.author,
        licence=FLAGS.licence,
    )
    print("\n".join(summary.lines(FLAGS.output, report)))


if __name__ == "__main__":
    define_flags()
    commands.run(main)
