"""Counts the instructions of one inference on the core of a phone, without a phone.

    python -m export.arm_cost float32.tflite --core=cortex-a76 [--others=int8.tflite,dynamic.tflite]

Runs LiteRT's own library for ARM under an emulator and counts what it executes: a proxy of time, of use for
comparing models that are alike. Debian packages: gcc libc6-dev gcc-aarch64-linux-gnu qemu-user.
"""

import sys

from absl import flags

from command_line import commands
from hsvit_runtime import files
from measuring.arm_cost import counting, emulation

FLAGS = flags.FLAGS


def define_flags():
    meanings = "; ".join(f"{name}: {core['meaning']}" for name, core in emulation.CORES.items())
    flags.DEFINE_enum("core", "cortex-a76", list(emulation.CORES), meanings)
    flags.DEFINE_list("others", [], "Models to compare with the first, separated by commas.")
    flags.DEFINE_string("output", None, "JSON file to write; export.report shows those in a run's folder.")
    flags.DEFINE_string("cache", None, "Folder of what is fetched and built; in the user's cache by default.")


def main(arguments):
    report = counting.compare(
        [*arguments, *FLAGS.others], FLAGS.core, cache=FLAGS.cache, progress=_show_progress
    )
    if FLAGS.output:
        files.write_json(FLAGS.output, report)
    print(table(report))


def _show_progress(path):
    if sys.stderr.isatty():
        print(f"counting {path}", file=sys.stderr)


def table(report):
    """The report of `counting.compare` as text, one line a model, kinds that do not occur left out."""
    kinds = [kind for kind in report["models"][0]["by_kind"] if _ever(report, kind)]
    rows = [["model", "instructions", "ratio", *(kind.replace("_", " ") for kind in kinds)]]
    for model in report["models"]:
        numbers = [f"{model['instructions']:,}", f"{model['ratio']:.3f}"]
        rows.append([model["name"], *numbers, *(f"{model['by_kind'][kind]:,}" for kind in kinds)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
    runtime = " ".join(report["runtime"].values())
    return "\n".join([*lines, f"instructions of one inference on {report['core']}, {runtime}, one thread"])


def _ever(report, kind):
    return any(model["by_kind"][kind] for model in report["models"])


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False, argument=".tflite file")
