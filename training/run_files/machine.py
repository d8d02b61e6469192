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


def on_cpu():
    """Whether Keras computes on no other device."""
    return all("cpu" in device.lower() for device in keras.distribution.list_devices())


def multiplies_bfloat16():
    """Whether the processor has units for matrices of bfloat16, AMX."""
    return "amx_bf16" in _cpuinfo("flags").split()


def _processor():
    """Linux names the processor in a file; elsewhere Python knows as much as there is to know."""
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _cpuinfo(name):
    """What Linux says of the first core; empty elsewhere."""
    path = pathlib.Path("/proc/cpuinfo")
    for line in path.read_text().splitlines() if path.is_file() else []:
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return ""
