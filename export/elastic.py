"""Makes one .tflite file of an HSViT that computes with few groups or with all, as there is time.

    python -m export.elastic --model=M.keras --groups=4,8,16 --preset=dynamic --output=M.tflite

Each number of groups is a signature of the file, such as `groups_4`, and all have the same weights, which are
stored once. `export.serving.elastic_model` picks one for each image by a latency budget. A model trained with
`group_dropout` is most accurate with few of its groups.
"""

from absl import flags

from command_line import bounded, commands
from export.converting import options

FLAGS = flags.FLAGS


def define_flags():
    options.define_flags()
    options.define_preset_flags()
    bounded.integers(
        "groups", None, "Numbers of groups to compute with, from few to all.", 1, bounded.MANY, required=True
    )


def main(_):
    from export.sharding import elastic_file
    from hsvit_keras.artifacts.writing import in_float32
    from hsvit_keras.model_files import load_model

    request = options.parts_request(in_float32(load_model(FLAGS.model)))
    report = elastic_file.write(request, FLAGS.groups, FLAGS.output)
    print(f"wrote {FLAGS.output}: {report['preset']}, {len(FLAGS.groups)} signatures")
    print(elastic_file.table(report))


if __name__ == "__main__":
    define_flags()
    commands.run(main)
