"""Where numbers were measured: processor, backend and versions."""

import importlib.metadata
import os
import pathlib
import platform

import keras

import hsvit_keras


def describe():
    """The machine and the software of this process.

    Returns:
        dict of `machine` (system, processor, cores, devices Keras computes on), `backend` and `versions`.
    """
    backend = keras.backend.backend()
    packages = ("keras", "numpy", "grain", backend)
    return {
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": len(os.sched_getaffinity(0)),
            "devices": keras.distribution.list_devices(),
        },
        "backend": backend,
        "versions": {
            "python": platform.python_version(),
            "hsvit_keras": hsvit_keras.__version__,
            **{package: importlib.metadata.version(package) for package in packages},
        },
    }


def _processor():
    """Linux names the processor in a file; elsewhere Python knows as much as there is to know."""
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
