"""Processes that measure in turn, one while the others wait, so that other work slows all of them alike."""

import json
import os
import subprocess
import sys
import tempfile

from hsvit_runtime.errors import InputError


class Worker:
    """A process that writes a line of JSON when it is ready, and one for each line that it is sent.

    Args:
        module: str, what the process runs; it takes `--job`.
        job: dict, the JSON of that flag.
        name: str, what is measured, in words.
        environment: dict of environment variables beside those of this process.

    Attributes:
        job: dict.
        ready: dict, the first line.
        measurements: list of dicts, each with `images_per_second`.
    """

    def __init__(self, module, job, name, environment):
        self.job, self.measurements = job, []
        self._module, self._name, self._environment = module, name, environment

    def __enter__(self):
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-m", self._module, f"--job={json.dumps(self.job)}"],
            env={**os.environ, **self._environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.ready = self._read_line()
        print(f"{self._name}: ready", flush=True)
        return self

    def __exit__(self, *_):
        self._process.communicate()
        self._errors.close()

    def measure(self):
        """Makes one measurement while the other processes wait."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.measurements.append(self._read_line())
        print(f"{self._name}: {self.measurements[-1]['images_per_second']:,.1f} images/s", flush=True)

    def _read_line(self):
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        self._process.wait()
        self._errors.seek(0)
        *_, reason = self._errors.read().strip().splitlines() or ["it wrote no error"]
        raise InputError(f"{self._name} cannot be measured: {reason.removeprefix('error: ')}")


def answer(ready, measure):
    """The other side: writes `ready`, and what `measure` returns for each line of standard input."""
    print(json.dumps(ready), flush=True)
    for _ in sys.stdin:
        print(json.dumps(measure()), flush=True)
