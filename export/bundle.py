"""Models, pictures or clips, and correct outputs in one folder, for the app and the page to measure.

    python -m export.bundle --original=best.keras --mobile=dynamic.tflite,int8.tflite --output=DIR

The original becomes the float32 `.tflite` of the trained model, whose outputs have to be Keras'; those of a
mobile artifact have to be LiteRT's on this machine. The format of `bundle.json` is
`export/bundles/bundle.schema.json`.
"""

from absl import flags

from command_line import bounded, commands, model_data
from hsvit_runtime.litert import trial

FLAGS = flags.FLAGS
_MOST_IMAGES = 1000  # a phone has all their outputs in memory


def define_flags():
    flags.DEFINE_string("original", None, "The trained .keras file of the artifacts.", required=True)
    bounded.names("mobile", None, "Its .tflite artifacts, separated by commas.", required=True)
    flags.DEFINE_string("output", None, "Folder to write; an older bundle is replaced.", required=True)
    model_data.define_flags()
    bounded.integer("images", 50, "How many images.", 1, _MOST_IMAGES)
    flags.DEFINE_bool("cut", False, "Adds each model cut into kinds of operations, which the app times.")
    flags.DEFINE_string("name", None, "How the app calls the bundle; 'MODEL on DATA' by default.")


def main(_):
    from export.bundles import writing

    trial.check_runs(FLAGS.mobile)
    bundle = writing.write(
        writing.Request(
            originals=[writing.Original(FLAGS.original, FLAGS.mobile)],
            output=FLAGS.output,
            data=FLAGS.data,
            data_dir=FLAGS.data_dir,
            images=FLAGS.images,
            name=FLAGS.name,
            input_range=FLAGS.input_range,
            cut=FLAGS.cut,
        )
    )
    print(f"wrote {FLAGS.output}: {bundle['name']}, {len(bundle['images'])} images")
    for model in bundle["models"]:
        metrics = "".join(
            f", {name.replace('_', ' ')} {value:.4f}" for name, value in model["metrics"].items()
        )
        limits = ", ".join(
            f"{part['name']} {part['max_abs_diff']:.2g}"
            for part in model["reference"]["outputs"]
            if part["max_abs_diff"] is not None
        )
        print(f"  {model['file']}: {model['bytes'] / 1e3:,.1f} kB{metrics}, correct within {limits}")


if __name__ == "__main__":
    define_flags()
    commands.run(main)
