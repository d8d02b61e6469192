"""What a figure of a paper is: the runs it needs, what is measured of them, and how that is drawn."""

import dataclasses
import pathlib
from collections.abc import Callable

from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError
from measuring import run_schemas
from measuring.finished_runs import finished_runs
from training.tabulating.declarations import list_declarations, load_declaration
from training.tabulating.paper import Table


@dataclasses.dataclass(frozen=True)
class Trained:
    """What there is of a figure's runs once they are trained.

    Attributes:
        cells: list of `training.tabulating.plan.Cell`, each row on each data set.
        sources: list of `training.tabulating.sources.Source`, the data sets.
        rows: list of dicts of `training.tabulating.results.results`, one a cell.
        workdir: path of the folder of runs; a figure may keep files of its own there.
    """

    cells: list
    sources: list
    rows: list
    workdir: pathlib.Path

    def runs(self):
        """The finished run of the first seed of each cell.

        Returns:
            list of (`Cell`, `FinishedRun`): `run.model` is the path of its best model.

        Raises:
            InputError: none is finished.
        """
        finished = finished_runs(self.workdir)
        firsts = (
            (cell, next((run for run in cell.runs if run.name in finished), None)) for cell in self.cells
        )
        found = [(cell, finished[run.name]) for cell, run in firsts if run is not None]
        if self.cells and not found:
            raise InputError(f"no run in {self.workdir} has finished, so there is nothing to draw")
        return found

    def epochs(self, run):
        """The rows of a `FinishedRun`, one an epoch: list of dicts such as `val_loss`, `val_accuracy`."""
        return json_files.read_lines(run.path / "metrics.jsonl", run_schemas.ROW)

    def images(self, cell, run, count, seed=0):
        """Test images of a run.

        Args:
            cell, run: a pair of `runs`.
            count: int.
            seed: int, decides which; the same ones for any model of the data set.

        Returns:
            (images, labels): uint8 array `(count, height, width, channels)` of the size that the model takes,
            which takes pixels of 0 to 255, and int array `(count,)`.
        """
        from data_sets import load_dataset, sample_images

        dataset = load_dataset(cell.source.data, "test", cell.source.folder)
        return sample_images(dataset, count=count, image_shape=tuple(run.config["image_shape"]), seed=seed)


def _nothing(trained):
    return {}


@dataclasses.dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper.

    Attributes:
        table: `Table`, with title and paper, of the runs that it needs; without rows where it needs none.
        draw: function from the dict that `measure` gives, with `rows` added, to a matplotlib figure.
        measure: function from `Trained` to a dict of what the picture shows beside the accuracies of `rows`:
            texts, numbers, lists of them, and NumPy arrays.
    """

    table: Table
    draw: Callable
    measure: Callable = _nothing


def list_figures():
    """Names of the figures, by paper and number."""
    from training import paper_figures

    return list_declarations(paper_figures, "get_figure")


def load_figure(name):
    """The `PaperFigure` of a name.

    Raises:
        InputError: there is no such figure.
    """
    from training import paper_figures

    return load_declaration(paper_figures, "get_figure", name, "--figure")
