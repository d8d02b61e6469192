"""The trained models in a folder of runs, such as the workdir of a table: each a folder of its own."""

import dataclasses
import pathlib

from hsvit_runtime import json_files
from hsvit_runtime.errors import FileError
from measuring import run_schemas


@dataclasses.dataclass(frozen=True)
class FinishedRun:
    """A training that came to its end.

    Attributes:
        path: path of its folder; `best.keras` in it is the trained model.
        config: dict of `config.json`, what was trained.
        summary: dict of `summary.json`, what came out.
    """

    path: pathlib.Path
    config: dict
    summary: dict

    @property
    def model(self):
        """Path of the trained model."""
        return self.path / "best.keras"


def finished_runs(folder):
    """Reads the runs in a folder that are finished.

    Args:
        folder: path of a folder whose subfolders are runs of `training.train`; of a table, one for each row,
            data set and seed, named `row-data-seed`.

    Returns:
        dict from the name of a subfolder to `FinishedRun`, sorted by name.

    Raises:
        NotADirectoryError: there is no such folder.
        ValueError: a file of a run is damaged.
    """
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise FileError(f"{folder} is not a folder: give one that holds the folders of runs")
    paths = sorted(path.parent for path in folder.glob("*/summary.json"))
    return {
        path.name: FinishedRun(
            path,
            json_files.read(path / "config.json", run_schemas.CONFIG),
            json_files.read(path / "summary.json", run_schemas.FINISHED),
        )
        for path in paths
        if (path / "best.keras").is_file()
    }
