"""Writes the table of what each pass does with each layer of Keras, into docs/any_model.md.

    python -m export.layers [--output=docs/any_model.md]

The table stands between two marks of the page; the rest of the page stays.
"""

from absl import flags

from command_line import commands

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("output", "docs/any_model.md", "Page whose table is replaced.")


def main(_):
    from export.cataloguing import layers_table

    count = layers_table.write(FLAGS.output)
    print(f"wrote {FLAGS.output}: {count} layers")


if __name__ == "__main__":
    define_flags()
    commands.run(main)
