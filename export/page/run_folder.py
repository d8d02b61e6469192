"""Reads what a run left in its folder: its training, its artifacts, its benchmarks, its costs on a core."""

import dataclasses
import functools
import pathlib

from hsvit_runtime import input_files, json_files, outputs, report_schema
from hsvit_runtime.errors import InputError, MissingFileError
from measuring import benchmark_report, run_schemas
from measuring.arm_cost import counting

_LARGEST_PICTURE = 64 * 2**20  # bytes


@dataclasses.dataclass(frozen=True)
class Run:
    """What was found.

    Attributes:
        name: str, the folder's.
        config: dict of config.json, None if it is missing.
        summary: dict of summary.json, which a finished training leaves; None if it is missing.
        metrics: list of dicts, the lines of metrics.jsonl, one an epoch.
        samples: bytes of samples.png, test samples with what the model makes of them; None if missing.
        artifacts: list of converters' reports, each with the artifact's file `name`.
        benchmarks: list of benchmark reports.
        costs: list of reports of `export.arm_cost`.
        skipped: list of str, why files that were found are left out.
    """

    name: str
    config: dict | None
    summary: dict | None
    metrics: list
    samples: bytes | None
    artifacts: list
    benchmarks: list
    costs: list
    skipped: list


def read_run(workdir, *, exports=None, benchmarks=None):
    """Reads the folder of a run.

    Args:
        workdir: str or path of the folder; JSON files are told by their content, in folders below too.
            Files that cannot be used are skipped, hidden ones in silence.
        exports: str or path of the folder of artifacts and their reports; None for `workdir`.
        benchmarks: list of paths of benchmark reports; None for those in `workdir`.

    Returns:
        A `Run`.

    Raises:
        OSError: a folder or a file that was named is not there, or nothing was found.
        ValueError: a file of `benchmarks` is no benchmark report.
    """
    workdir = _folder("workdir", workdir)
    skipped = []
    found = _read_all(_read_object, _search(workdir), skipped)
    described = found
    if exports is not None:
        described = _read_all(_read_object, _search(_folder("exports", exports)), skipped)
    if benchmarks is None:
        told = [path for path, content in found.items() if {"models", "pairs"} <= set(content)]
        reports = _read_all(_read_benchmark, told, skipped).values()
    else:
        reports = map(_read_benchmark, map(pathlib.Path, benchmarks))
    counted = [path for path, content in found.items() if {"cost", "core", "models"} <= set(content)]
    converted = [
        path for path, content in described.items() if {"artifact", "sha256", "parity"} <= set(content)
    ]
    run = Run(
        name=workdir.resolve().name,
        config=_one(_read_by(run_schemas.CONFIG), workdir / "config.json", skipped),
        summary=_one(_read_by(run_schemas.SUMMARY), workdir / "summary.json", skipped),
        metrics=_one(_read_rows, workdir / "metrics.jsonl", skipped) or [],
        samples=_one(_read_picture, workdir / "samples.png", skipped),
        artifacts=[
            {**content, "name": content["artifact"]}
            for content in _read_all(
                _read_by(report_schema.ARTIFACT, "report of a converter"), converted, skipped
            ).values()
        ],
        benchmarks=list(reports),
        costs=list(
            _read_all(_read_by(counting.REPORT, "report of export.arm_cost"), counted, skipped).values()
        ),
        skipped=list(dict.fromkeys(skipped)),
    )
    if not any((run.config, run.summary, run.metrics, run.artifacts, run.benchmarks, run.costs)):
        raise MissingFileError(
            "; ".join(
                [
                    f"there is nothing to report on in {workdir}, where metrics.jsonl, config.json, "
                    "converters' reports (M.json beside M.tflite) and benchmark reports are looked for",
                    *run.skipped,
                ]
            )
        )
    return run


def _search(folder):
    """The JSON files in a folder and those below, without hidden ones."""
    return sorted(
        path
        for path in folder.rglob("*.json")
        if not path.is_dir() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def _read_all(read, paths, skipped):
    """A dict from each path to what `read` makes of it; where it cannot, `skipped` is told why."""
    contents = {}
    for path in paths:
        try:
            contents[path] = read(path)
        except (OSError, ValueError) as error:
            skipped.append(str(error))
    return contents


def _one(read, path, skipped):
    """What `read` makes of a file; None where it is not there, or `skipped` is told why not."""
    return _read_all(read, [path] if path.exists() else [], skipped).get(path)


def _folder(name, path):
    path = pathlib.Path(path)
    if not path.is_dir():
        raise MissingFileError(f"{name}={str(path)!r} is no folder")
    return path


def _read_object(path):
    content = json_files.read(path)
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no JSON object")
    return content


def _read_by(schema, kind=None):
    return functools.partial(json_files.read, schema=schema, kind=kind)


def _read_rows(path):
    return json_files.read_lines(path, run_schemas.ROW)


def _read_picture(path):
    content = input_files.read(path, "picture", _LARGEST_PICTURE)
    if not outputs.PICTURE.is_one(path):
        raise InputError(f"{path} is no PNG picture")
    return content


def _read_benchmark(path):
    if not path.is_file():
        raise MissingFileError(f"there is no benchmark report {path}")
    content = _read_object(path)
    try:
        benchmark_report.check(content)
    except ValueError as error:
        raise InputError(f"{path} is no benchmark report: {error}") from error
    return content
