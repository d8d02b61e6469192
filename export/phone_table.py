"""Collects reports of phones, and sets them in one table.

    python -m export.phone_table add --report=phone.json --contributor=NAME --room_celsius=22 --nocase
    python -m export.phone_table table

`add` puts a report of the app, or of the page in a phone's browser, into docs/phones/results, with what a
report cannot know, and writes the table anew. `table` only writes it, after files were added by hand or came
from others: all are checked first. docs/phone.md says how to measure.
"""

import pathlib

from absl import flags

from command_line import bounded, commands
from export.phones import results, results_table
from hsvit_runtime.errors import InputError
from measuring import benchmark_report

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("report", None, "For add: the JSON report that export.phone wrote.")
    flags.DEFINE_string("contributor", None, "For add: a name to show in the table.")
    bounded.number("room_celsius", None, "For add: temperature of the room, degrees Celsius.", -50, 60)
    flags.DEFINE_bool("case", None, "For add: whether the phone was in a case.")
    flags.DEFINE_enum(
        "phone_tests", None, ["passed", "failed"], "For add: how `gradlew connectedDebugAndroidTest` ended."
    )
    flags.DEFINE_string("notes", "", "For add: what else the reader should know.")
    flags.DEFINE_string("folder", "docs/phones", "Holds results/, and the table.")


def main(arguments):
    if arguments[0] not in ("add", "table"):
        raise InputError(f"the action is one of add, table; received {arguments[0]!r}")
    folder = pathlib.Path(FLAGS.folder)
    if arguments[0] == "add":
        _add(folder)
    else:
        commands.refuse_useless("for table", "report", *results.ABOUT)
    written = results_table.write(folder)
    print(f"wrote {folder / results_table.NAME}, {written} results")


def _add(folder):
    if not FLAGS.report:
        raise InputError("add needs --report, the JSON report that export.phone wrote")
    about = {name: FLAGS[name].value for name in results.ABOUT}
    path = results.add(folder, benchmark_report.read(FLAGS.report), about)
    print(f"wrote {path}")


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False, argument="action: add or table")
