"""What the Vision X-formers' pictures of memory have in common: accuracy against what training needs.

The paper measured the memory of a GPU; here it is what XLA plans for a step of training, see
`training.speed.memory`. The batch has 64 images in both.
"""

from command_line import commands
from training.visualizing import points

_BATCH_SIZE = 64


def measure_memory(trained):
    """Memory of training each model that was trained: the `measure` of a `PaperFigure`.

    Returns:
        dict of `paper`, the printed points, and `memory`, a list of dicts of `row`, `data` and `bytes`.
    """
    from training.speed.memory import bytes_of_training

    found, runs = [], trained.runs()
    for number, (cell, run) in enumerate(runs, 1):
        config = run.config
        settings = config["model"], config["model_arguments"], config["image_shape"]
        needed = bytes_of_training(*settings, _BATCH_SIZE, config["dtype"])
        found.append({"row": cell.row.name, "data": cell.source.label, "bytes": needed})
        commands.show_progress("memory of models", number, len(runs))
    return {"paper": _printed(trained), "memory": found}


def _printed(trained):
    return [
        {
            "row": row["row"],
            "gigabytes": row["paper"]["others"]["GPU (GB)"],
            "parameters": row["paper"]["parameters"],
            "top1": row["paper"]["top1"],
        }
        for row in trained.rows
        if row["paper"]["top1"] is not None
    ]


def draw_memory(numbers):
    """Draws accuracy against memory, and against parameters: the `draw` of a `PaperFigure`."""
    memory = {(one["row"], one["data"]): one["bytes"] / 1e9 for one in numbers["memory"]}
    panels = {"the paper's": [_point(one["row"], one["gigabytes"], one["top1"]) for one in numbers["paper"]]}
    here = points.measured(numbers, lambda row: memory[row["row"], row["data"]], series)
    parameters = points.measured(numbers, lambda row: row["measured"]["parameters"] / 1e3, series)
    panels |= {title: [_shortly(point) for point in found] for title, found in here.items()}
    labels = dict.fromkeys(panels, "memory of training in GB")
    for title, found in parameters.items():
        panels[f"{title}, parameters"] = [_shortly(point) for point in found]
        labels[f"{title}, parameters"] = "parameters in thousands"
    return points.draw({title: found for title, found in panels.items() if found}, labels, joined=())


def series(name):
    """The paper's groups: transformers, X-formers and models without attention, each plain or hybrid."""
    kind = "ViT" if "Transformer" in name else "other mixing" if "ormer" not in name else "ViX"
    return f"hybrid {kind}" if name.startswith("Hybrid") else kind


def _point(name, cost, top1):
    return {"series": series(name), "name": _short(name), "cost": cost, "top1": top1}


def _shortly(point):
    return {**point, "name": _short(point["name"])}


def _short(name):
    """The name in parentheses, where there is one."""
    return name.partition("(")[2].rstrip(")") or name.removeprefix("Hybrid ")
