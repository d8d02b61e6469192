"""Writes the table of all models, docs/models.md, from what they and their artifacts are.

    python -m export.catalog [--models=hsvit*] [--again]

Each model is converted, inspected, and timed in turn with `deit_tiny`, one model after the other.
docs/models.json holds all that was found. Models that are in it are skipped, so that an interrupted run can
be continued; --again examines them again.
"""

from absl import flags

from command_line import bounded, commands

FLAGS = flags.FLAGS


def define_flags():
    bounded.names("models", ["*"], "Names of models, or patterns such as hsvit*.")
    flags.DEFINE_bool("again", False, "Examine models that are in the table again.")
    flags.DEFINE_string("output", "docs/models.md", "The table; a .json of the same name holds the numbers.")
    bounded.blocks(5, least=2)
    bounded.runs(3)


def main(_):
    from export.cataloguing import models_table
    from hsvit_keras.backends import require_backend

    require_backend("tensorflow")
    models_table.write(FLAGS.output, FLAGS.models, again=FLAGS.again, blocks=FLAGS.blocks, runs=FLAGS.runs)


if __name__ == "__main__":
    define_flags()
    commands.run(main)
