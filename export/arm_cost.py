"""Counts the instructions of one inference on the core of a phone, without a phone.

    python -m export.arm_cost float32.tflite --core=cortex-a76 [--others=int8.tflite,dynamic.tflite]

Runs LiteRT's own library for ARM under an emulator and counts what it executes. That stands in for time where
similar models are compared. Debian packages: gcc libc6-dev gcc-aarch64-linux-gnu qemu-user.
"""

import sys

from absl import flags

from command_line import bounded, commands
from hsvit_runtime import files, outputs
from measuring.arm_cost import counting, emulation, table

FLAGS = flags.FLAGS


def define_flags():
    meanings = "; ".join(f"{name}: {core['meaning']}" for name, core in emulation.CORES.items())
    flags.DEFINE_enum("core", "cortex-a76", list(emulation.CORES), meanings)
    bounded.names("others", [], "Models to compare with the first, separated by commas.")
    flags.DEFINE_string("output", None, "JSON file to write; export.report shows those in a run's folder.")
    flags.DEFINE_string(
        "cache",
        None,
        "Folder for what is fetched and built; in the user's cache by default.",
    )


def main(arguments):
    paths = [*arguments, *FLAGS.others]
    outputs.check(FLAGS.output, outputs.json_with("cost", "core", "models"), reads=paths)
    report = counting.compare(paths, FLAGS.core, cache=FLAGS.cache, progress=_show_progress)
    if FLAGS.output:
        files.write_json(FLAGS.output, report)
    print(table.table(report))


def _show_progress(path):
    if sys.stderr.isatty():
        print(f"counting {path}", file=sys.stderr)


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False, argument=".tflite file")
