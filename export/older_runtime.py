"""How fast `.tflite` files are in an older TensorFlow Lite, which an environment of its own holds.

    python3.11 -m venv DIR && DIR/bin/pip install tensorflow-cpu==2.16.2
    python -m export.older_runtime --python=DIR/bin/python --original=A.tflite \\
        --mobile=B.tflite --output=R.json

The files run side by side in alternating blocks, as in `export.benchmark`, on the same made-up input.
"""

import itertools
import json
import os
import pathlib
import subprocess

import numpy as np
from absl import flags

from command_line import bounded, commands, tables
from hsvit_runtime import files, outputs
from hsvit_runtime.errors import InputError, MissingFileError
from measuring.latency_statistics import ratio_of_medians, summarize

FLAGS = flags.FLAGS
ROOT = pathlib.Path(__file__).parents[1]


def define_flags():
    flags.DEFINE_string("python", None, "Python of the environment with the older runtime.", required=True)
    flags.DEFINE_string("original", None, "The .tflite file to compare with.", required=True)
    bounded.names("mobile", None, "Those to compare with it, separated by commas.", required=True)
    flags.DEFINE_string("output", None, "JSON file to write.", required=True)
    bounded.blocks(20, "Blocks of runs for each file.")
    bounded.runs(10)
    bounded.warmup(3, "Runs before each block that do not count.")
    bounded.threads()


def main(_):
    paths = [pathlib.Path(path) for path in (FLAGS.original, *FLAGS.mobile)]
    outputs.check(FLAGS.output, outputs.json_with("runtime", "models"), reads=paths)
    for path in paths:
        if not path.is_file():
            raise MissingFileError(f"there is no model file {path}")
    with files.replacing(FLAGS.output) as temporary:
        report = _report(paths, _measured(paths))
        files.write_json(temporary, report)
    print("\n".join(_lines(report)))
    print(f"wrote {FLAGS.output}")


def _measured(paths):
    """What `measuring.time_tflite` prints in the other environment."""
    request = {"paths": [str(path.resolve()) for path in paths]}
    request |= {name: FLAGS[name].value for name in ("blocks", "runs", "warmup", "threads")}
    command = [FLAGS.python, "-m", "measuring.time_tflite"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            command, input=json.dumps(request), capture_output=True, text=True, cwd=ROOT, env=environment
        )
    except OSError as error:
        raise InputError(f"--python={FLAGS.python} does not start: {error.strerror}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise InputError(f"--python={FLAGS.python} does not run the files: {last}")
    return json.loads(done.stdout)


def _report(paths, measured):
    original, *_ = blocks = measured["blocks_ms"]
    first, *_ = found = [np.asarray(values, "float64") for values in measured["outputs"]]
    models = [
        {
            "file": str(path),
            **nodes,
            "latency_ms": summarize(list(itertools.chain(*times))),
            "ratio": ratio_of_medians(original, times) if index else None,
            "max_abs_diff": float(np.abs(values - first).max()) if values.shape == first.shape else None,
            "blocks_ms": times,
        }
        for index, (path, nodes, times, values) in enumerate(
            zip(paths, measured["nodes"], blocks, found, strict=True)
        )
    ]
    return {"runtime": f"TensorFlow Lite {measured['runtime']}", "threads": FLAGS.threads, "models": models}


def _lines(report):
    columns = ["file", "ops", "partitions", "p50 ms", "min ms", "ratio [low, high]", "differs by"]
    rows = []
    for model in report["models"]:
        ratio = model["ratio"]
        told = "original"
        if ratio:
            interval = "no interval" if ratio["low"] is None else f"{ratio['low']:.3f}, {ratio['high']:.3f}"
            told = f"{ratio['value']:.3f} [{interval}]"
        latency, differs = model["latency_ms"], model["max_abs_diff"]
        rows.append(
            [
                model["file"],
                str(model["ops"]),
                str(model["partitions"]),
                f"{latency['p50']:.3f}",
                f"{latency['min']:.3f}",
                told,
                "-" if differs is None else f"{differs:.2g}",
            ]
        )
    return [report["runtime"], tables.table(columns, rows)]


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
