"""Reads what a run left in its folder: its training, its artifacts, its benchmarks."""

import dataclasses
import json
import pathlib

from export.measuring import benchmark_report


@dataclasses.dataclass(frozen=True)
class Run:
    """What was found.

    Attributes:
        name: str, the folder's.
        config: dict of config.json, None if it is missing.
        summary: dict of summary.json, which a finished training leaves; None if it is missing.
        metrics: list of dicts, the lines of metrics.jsonl, one an epoch.
        artifacts: list of converters' reports, each with the artifact's file `name`.
        benchmarks: list of benchmark reports.
    """

    name: str
    config: dict | None
    summary: dict | None
    metrics: list
    artifacts: list
    benchmarks: list


def read_run(workdir, *, exports=None, benchmarks=None):
    """Reads the folder of a run.

    Args:
        workdir: str or path of the folder; JSON files are told by their content, in folders below too.
        exports: str or path of the folder of artifacts and their reports; None for `workdir`.
        benchmarks: list of paths of benchmark reports; None for those in `workdir`.

    Returns:
        A `Run`.

    Raises:
        OSError: a folder or a file that was named is not there.
        ValueError: a file is no JSON, or no benchmark report.
    """
    workdir = _folder("workdir", workdir)
    exports = workdir if exports is None else _folder("exports", exports)
    metrics = workdir / "metrics.jsonl"
    found = {path: _read_json(path) for path in sorted(workdir.rglob("*.json"))}
    described = {path: found.get(path) or _read_json(path) for path in sorted(exports.rglob("*.json"))}
    if benchmarks is None:
        benchmarks = [path for path, content in found.items() if _has(content, "models", "pairs")]
    return Run(
        name=workdir.resolve().name,
        config=found.get(workdir / "config.json"),
        summary=found.get(workdir / "summary.json"),
        metrics=_read_json_lines(metrics) if metrics.is_file() else [],
        artifacts=[
            {**content, "name": _artifact(path, content)}
            for path, content in described.items()
            if _has(content, "sha256", "parity")
        ],
        benchmarks=[_read_benchmark(pathlib.Path(path)) for path in benchmarks],
    )


def _folder(name, path):
    path = pathlib.Path(path)
    if not path.is_dir():
        raise FileNotFoundError(f"{name}={str(path)!r} is no folder")
    return path


def _has(content, *keys):
    return isinstance(content, dict) and set(keys) <= set(content)


def _artifact(report, content):
    """Name of the file that a converter's report is about."""
    return report.with_suffix(".onnx" if "opset" in content else ".tflite").name


def _read_json(path):
    return _parse(path.read_bytes(), path)


def _read_json_lines(path):
    lines = enumerate(path.read_bytes().splitlines(), start=1)
    rows = [_parse(line, f"line {number} of {path}") for number, line in lines if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{path} must hold one JSON object a line")
    return rows


def _parse(content, where):
    try:
        return json.loads(content)
    except ValueError as error:
        raise ValueError(f"{where} is no JSON: {error}") from error


def _read_benchmark(path):
    if not path.is_file():
        raise FileNotFoundError(f"there is no benchmark report {path}")
    content = _read_json(path)
    try:
        benchmark_report.check(content)
    except ValueError as error:
        raise ValueError(f"{path} is no benchmark report: {error}") from error
    return content
