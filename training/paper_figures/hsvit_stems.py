"""HSViT, section 4.5: what cheaper stems, and nodes that each hold a part of the image, cost in accuracy.

No figure of the paper: its discussion proposes separable convolutions, and large images that are cut into
sections for different nodes. Four nodes share the groups. A finer stem does not pool in its first stage, so
that the maps of a quarter of the image are as large as those of the whole image otherwise.
"""

import numpy as np

from command_line import plots
from training.tables import hsvit
from training.tabulating.paper import Row, Table
from training.visualizing.paper_figure import PaperFigure

_NODES = 4
_IMAGES = 1000  # at most, of the test part
_STEMS = {
    "shared": {},
    "shared separable": {"separable": True},
    "split": {"stem": "split"},
    "split separable": {"stem": "split", "separable": True},
    "1 x 2 parts": {"stem": "split", "image_grid": (1, 2)},
    "2 x 1 parts": {"stem": "split", "image_grid": (2, 1)},
    "2 x 2 parts": {"stem": "split", "image_grid": (2, 2)},
    "2 x 2 parts finer": {"stem": "split", "image_grid": (2, 2), "pool_strides": (1, 2)},
}


def get_figure():
    rows = (
        Row(f"{name} {stem}", f"hsvit_{name.lower()}", {"pool_strides": (2, 2), **arguments})
        for name in ("C2A2", "Tiny")
        for stem, arguments in _STEMS.items()
    )
    table = Table(
        title="HSViT, section 4.5: stems",
        paper=hsvit.PAPER,
        recipes={"cifar10": hsvit.RECIPES["cifar10"]},
        rows=tuple(rows),
        notes=hsvit.NOTES,
        image_size=32,
    )
    return PaperFigure(table, draw=_draw, measure=_measure)


def _measure(trained):
    return {"nodes": [_nodes(trained, cell, run) for cell, run in trained.runs()]}


def _nodes(trained, cell, run):
    """What each of four nodes computes of a trained model, and the accuracy when each is lost."""
    import hsvit_keras
    from data_sets import load_dataset
    from hsvit_keras.compression.counting import count_multiply_adds
    from hsvit_keras.model_files import load_model

    count = min(_IMAGES, len(load_dataset(cell.source.data, "test", cell.source.folder)))
    images, labels = trained.images(cell, run, count)
    parts, head = hsvit_keras.shard(load_model(run.model), _NODES)
    tokens = [part.predict(images, verbose=0) for part in parts]

    def accuracy(kept):
        logits = np.asarray(head(np.concatenate([tokens[node] for node in kept], axis=1)))
        return round(100 * float((logits.argmax(-1) == labels).mean()), 4)

    nodes = range(_NODES)
    return {
        "row": cell.row.name,
        "data": cell.source.label,
        "multiply_adds_of_a_node": max(count_multiply_adds(part) for part in parts),
        "images": count,
        "all": accuracy(nodes),
        "without_a_node": [accuracy([node for node in nodes if node != lost]) for lost in nodes],
        "alone": [accuracy([node]) for node in nodes],
    }


def _draw(numbers):
    """A line a row: accuracy of all nodes, without one and of one alone; beside it what a node computes."""
    found = numbers["nodes"]
    sets = {one["data"] for one in found}
    names = [f"{one['row']}, {one['data']}" if len(sets) > 1 else one["row"] for one in found]
    places = np.arange(len(found))
    figure = plots.new_figure((7.6, 0.32 * len(found) + 1.3))
    accuracy, cost = figure.subplots(1, 2, sharey=True, width_ratios=(2, 1))
    kinds = {"all nodes": "all", "without one of four": "without_a_node", "one of four alone": "alone"}
    for (label, key), colour, marker in zip(kinds.items(), plots.SERIES, plots.MARKERS, strict=False):
        points = [
            (value, place) for place, one in zip(places, found, strict=True) for value in np.ravel(one[key])
        ]
        accuracy.plot(*zip(*points, strict=True), marker, color=colour, markersize=5, alpha=0.7, label=label)
    accuracy.set_xlabel("top-1 in %")
    accuracy.set_yticks(places, names)
    accuracy.set_ylim(len(found) - 0.5, -0.5)
    cost.barh(places, [one["multiply_adds_of_a_node"] / 1e6 for one in found], 0.5, color=plots.SERIES[0])
    cost.set_xlabel("M multiply-adds of a node")
    figure.legend(*accuracy.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return figure
