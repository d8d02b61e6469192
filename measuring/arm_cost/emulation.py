"""Runs a model on an emulated ARM core, in the same surroundings on every computer.

The library learns about the processor from files in /proc and /sys. Here these are files of the emulated
core, the environment is empty, and the model always has the same name. So counts are the same everywhere.
"""

import itertools
import json
import pathlib
import subprocess
import tempfile

from hsvit_runtime.errors import InputError

CORES = json.loads(pathlib.Path(__file__).with_name("cores.json").read_text())

_MODEL = "model.tflite"
_COUNTS = "counts"
_PROCESSOR = "sys/devices/system/cpu"
_FILES = {
    f"{_PROCESSOR}/kernel_max": "0",
    f"{_PROCESSOR}/possible": "0",
    f"{_PROCESSOR}/present": "0",
    f"{_PROCESSOR}/cpu0/cpufreq/cpuinfo_max_freq": "2000000",
    f"{_PROCESSOR}/cpu0/cpufreq/cpuinfo_min_freq": "2000000",
    f"{_PROCESSOR}/cpu0/topology/physical_package_id": "0",
    f"{_PROCESSOR}/cpu0/topology/cluster_cpus_list": "0",
    f"{_PROCESSOR}/cpu0/cache/index2/level": "2",
    f"{_PROCESSOR}/cpu0/cache/index2/size": "512K",
    f"{_PROCESSOR}/cpu0/cache/index2/shared_cpu_list": "0",
}
_CPUINFO = """processor\t: 0
Features\t: {features}
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: {variant}
CPU part\t: {part}
CPU revision\t: 1
"""


def run(tools, model, core, *, warmups, runs):
    """Runs a model.

    Args:
        tools: `toolchain.Tools`.
        model: path of a `.tflite` file.
        core: str, one of `CORES`.
        warmups: int, uncounted runs, which come first.
        runs: int, counted runs.

    Returns:
        list of dicts from a kind of instruction to how many were executed, one for each counted run.

    Raises:
        InputError: LiteRT does not run the model.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / _MODEL).symlink_to(model)
        _make_root(folder / "root", CORES[core], tools.libraries)
        plugin = f"{str(tools.counter).replace(',', ',,')},out={_COUNTS}"
        command = [str(tools.emulator), "-cpu", CORES[core]["qemu_cpu"], "-L", "root", "-plugin", plugin]
        command += [str(tools.runner), _MODEL, str(warmups), str(runs)]
        done = subprocess.run(command, cwd=folder, env={}, capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise InputError(f"{model} does not run on {core}: {_problem(done)}")
        return _instructions_between_marks((folder / _COUNTS).read_text())


def _make_root(root, core, libraries):
    """Writes the files that the emulated program finds in place of this machine's."""
    for name, text in {**_FILES, "proc/cpuinfo": _CPUINFO.format(**core)}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.rstrip("\n") + "\n")
    (root / "lib").symlink_to(libraries)


def _instructions_between_marks(text):
    """Instructions by kind from each mark to the next, without those of a mark itself.

    The runner sets two marks in a row, which shows what a mark costs, and then one after each counted run.
    """
    kinds, *lines = (line.split() for line in text.splitlines())
    marks = [[int(count) for count in line] for line in lines]
    steps = [
        {kind: late - early for kind, early, late in zip(kinds, *pair, strict=True)}
        for pair in itertools.pairwise(marks)
    ]
    mark, *runs = steps
    return [{kind: count - mark[kind] for kind, count in run.items()} for run in runs]


def _problem(done):
    if done.returncode < 0 or "uncaught target signal" in done.stderr:
        return "the emulated program crashed, the file may be damaged"
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("INFO:", "WARNING:"))]
    return "; ".join(line.removeprefix("ERROR: ").removeprefix("runner: ") for line in lines[-3:])
