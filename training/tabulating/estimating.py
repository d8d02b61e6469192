"""What the runs of a table would take, before any is started."""

from command_line import commands, tables
from hsvit_keras.compression.counting import count_multiply_adds
from training.fitting.building import build_model
from training.speed.random_training import RandomTraining
from training.tabulating.running import epochs_done, failure, is_finished

# About how many multiply-adds a measured step has: large models take few images, to be measured in seconds.
_STEP = 2e10
_STEPS = 3


def estimate(cells):
    """What would be trained, and about how long.

    A few steps of each row's model are measured, on random images of its first data set; on another it is
    taken to train as many multiply-adds a second. The start of a run and its validation are left out.

    Args:
        cells: list of `Cell`.

    Returns:
        list of dicts, one a cell: `row`, `data`, `state`, `multiply_adds` of an image, `images` that are left
        to train on and `seconds` for them; None where nothing is left.
    """
    rows, speeds = [], {}
    for place, cell in enumerate(cells):
        row = {"row": cell.row.name, "data": cell.source.label, "state": _state(cell)}
        row |= {"multiply_adds": None, "images": None, "seconds": None}
        if images := sum(_images_left(cell, run) for run in cell.runs):
            values = cell.runs[0].values
            multiply_adds = count_multiply_adds(build_model(values, cell.source.train_set.class_names))
            if cell.row.key not in speeds:
                speeds[cell.row.key] = _images_a_second(values, multiply_adds) * multiply_adds
            seconds = round(images * multiply_adds / speeds[cell.row.key])
            row |= {"multiply_adds": multiply_adds, "images": images, "seconds": seconds}
        rows.append(row)
        commands.show_progress("rows measured", place + 1, len(cells))
    return rows


def table(rows):
    """The estimate as text."""
    lines = [
        (
            row["row"],
            row["data"],
            row["state"],
            "" if row["images"] is None else f"{row['multiply_adds'] / 1e6:,.1f} M",
            "" if row["images"] is None else f"{row['images']:,}",
            "" if row["seconds"] is None else duration(row["seconds"]),
        )
        for row in rows
    ]
    return tables.table(("model", "data", "runs", "MACs", "images left", "about"), lines)


def duration(seconds):
    """Seconds as text, in a unit that suits."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def _images_left(cell, run):
    if is_finished(run) or failure(run):
        return 0
    values, count = run.values, len(cell.source.train_set)
    if values["validation"] != "test":
        count = round(count * (1 - values["validation"]["share"]))
    return (values["epochs"] - epochs_done(run)) * (count - count % values["batch_size"])


def _state(cell):
    """The runs of a cell in words."""
    if cell.why_not:
        return cell.why_not
    states = ["finished" if is_finished(run) else "failed" if failure(run) else None for run in cell.runs]
    states += [
        "begun" for run, state in zip(cell.runs, states, strict=True) if not state and epochs_done(run)
    ]
    parts = {state: states.count(state) for state in ("finished", "failed", "begun")}
    told = [f"{count} {name}" for name, count in parts.items() if count]
    return f"{len(cell.runs)}" + (f", of which {', '.join(told)}" if told else "")


def _images_a_second(values, multiply_adds):
    """How many images a second a model is trained on, in batches of the recipe's size or smaller ones."""
    names = "model", "image_shape", "dtype", "jit"
    batch_size = max(1, min(values["batch_size"], round(_STEP / multiply_adds)))
    training = RandomTraining(
        **{name: values[name] for name in names}, batch_size=batch_size, arguments=values["model_arguments"]
    )
    training.seconds_of(1)
    return batch_size * _STEPS / training.seconds_of(_STEPS)
