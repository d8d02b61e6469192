"""Instructions of the artifacts on a phone's core, where the tools to count them are there."""

import pathlib

from command_line import commands
from hsvit_runtime import files, json_files
from hsvit_runtime.errors import InputError
from measuring.arm_cost import counting


def counted(paths, core, output):
    """Counts the instructions of artifacts, or says why they are not counted.

    Args:
        paths: list of paths of `.tflite` files.
        core: str, one of `measuring.arm_cost.emulation.CORES`.
        output: path of the JSON file to write; counts that it holds already are taken from it.

    Returns:
        dict of `counting.compare`; None where they cannot be counted.
    """
    done = []

    def progress(path):
        commands.show_progress("counting artifact", len(done), len(paths))
        done.append(path)

    output = pathlib.Path(output)
    try:
        report = counting.compare(paths, core, known=_known(output), progress=progress)
    except (InputError, OSError) as error:  # what was measured before is worth telling without it
        output.unlink(missing_ok=True)
        print(f"instructions on a phone's core are not counted: {error}")
        return None
    commands.show_progress("counting artifact", len(paths), len(paths))
    files.write_json(output, report)
    return report


def _known(output):
    """The report of an earlier count; None without one."""
    return json_files.read_if_sound(output, counting.REPORT)
