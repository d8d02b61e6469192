"""Counts the instructions of one inference, of one model or of several to compare."""

import hashlib
import pathlib

from hsvit_runtime import input_files
from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import AMOUNT, TEXT, array, mapping, record
from hsvit_runtime.json_schemas import count as count_schema
from hsvit_runtime.litert import tflite_file
from measuring.arm_cost import emulation, toolchain

_WARMUPS, _RUNS = 2, 2
_INSTRUCTIONS = count_schema(0, 10**15)
# What `compare` gives.
REPORT = record(
    cost={"const": "instructions"},
    core=TEXT,
    runtime=record(name=TEXT, version=TEXT),
    models=array(
        record(
            name=TEXT,
            sha256=TEXT,
            bytes=count_schema(0, 10**15),
            instructions=_INSTRUCTIONS,
            by_kind=mapping(_INSTRUCTIONS),
            ratio=AMOUNT,
        ),
        least=1,
    ),
)


def instructions(path, core="cortex-a76", *, cache=None):
    """How many instructions a core executes for one inference, on one thread.

    Args:
        path: path of a `.tflite` file with inputs of fixed size.
        core: str, one of `emulation.CORES`.
        cache: path of the folder for what is fetched and built; in the user's cache by default.

    Returns:
        int, the same in every call.

    Raises:
        OSError: a file or a Debian package is missing, or LiteRT's library cannot be fetched.
        InputError: the core is unknown, or the file is no model that LiteRT runs.
    """
    return count(path, core, cache=cache)["instructions"]


def count(path, core="cortex-a76", *, cache=None):
    """Counts as `instructions` does, with details.

    Args:
        path, core, cache: see `instructions`.

    Returns:
        dict, ready for JSON:

        `name`, `bytes`, `sha256`: of the file
        `instructions`: int, of one inference
        `by_kind`: dict, the same number divided into `dot` (products of four 8-bit numbers each), `mmla` (of
            8-bit matrices), `fma` (multiply-adds of floats), `long_multiply` (of integers), `load_store`,
            `simd` (all else with vectors or floats), `sve` (SVE and SME) and `other`
        `spread`: int, the largest difference of two runs
    """
    if core not in emulation.CORES:
        raise InputError(f"core={core!r} is unknown; known are {', '.join(emulation.CORES)}")
    path = pathlib.Path(path).resolve()
    content = input_files.read(path, "model file")
    tflite_file.check_header(content, str(path))
    runs = emulation.run(toolchain.prepare(cache), path, core, warmups=_WARMUPS, runs=_RUNS)
    totals = [sum(run.values()) for run in runs]
    return {
        "name": path.name,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "instructions": totals[-1],
        "by_kind": runs[-1],
        "spread": max(totals) - min(totals),
    }


def compare(paths, core="cortex-a76", *, cache=None, known=None, progress=lambda path: None):
    """Counts several models.

    Args:
        paths: list of paths of `.tflite` files; the first is what the others are compared with.
        core: str, one of `emulation.CORES`.
        cache: see `instructions`.
        known: dict, an earlier result, whose counts of the same files on the same core are taken; or None.
        progress: function that is called with each path before it is counted.

    Returns:
        dict, ready for JSON: `cost`, what is counted; `core`; `runtime`; and `models`, a list with the dict
        of `count` for each and its `ratio` of instructions to the first.
    """
    runtime = {"name": toolchain.RUNTIME, "version": toolchain.VERSION}
    counts = {}
    if known and (known["core"], known["runtime"]) == (core, runtime):
        counts = {model["sha256"]: model for model in known["models"]}
    models = []
    for path in map(pathlib.Path, paths):
        progress(path)
        counted = counts.get(hashlib.sha256(input_files.read(path, "model file")).hexdigest())
        models.append({**counted, "name": path.name} if counted else count(path, core, cache=cache))
    for model in models:
        model["ratio"] = model["instructions"] / models[0]["instructions"]
    return {"cost": "instructions", "core": core, "runtime": runtime, "models": models}
