"""What the files in the folder of a training run say, as JSON schemas."""

from hsvit_runtime.json_schemas import AMOUNT, NUMBER, TASK, TEXT, array, count, mapping, or_null, partial

_VALUES = mapping(or_null(NUMBER))

_SIZES = array(count(1))
CONFIG = partial(  # its other keys are those of a recipe
    model=TEXT, data=TEXT, epochs=count(), seed=count(0, 2**64), image_shape=or_null(_SIZES)
)
ROW = {**_VALUES, **partial(epoch=count(1), step=count(0, 10**12))}  # of an epoch in metrics.jsonl
# Of an epoch in last.keras, whose run goes on.
FINISHED_ROW = {
    **ROW,
    "required": ["epoch", "step", "val_loss", "learning_rate", "images_per_second", "seconds"],
}
SUMMARY = partial(
    task=TASK,
    parameters=count(0, 10**15),
    multiply_adds=count(0, 10**18),
    layers=mapping(count()),
    epochs=count(1),
    schedules=array(count(1), 1),
    ended_by=partial(epochs=count(1), patience=or_null(count(1))),
    images_seen=count(0, 10**15),
    seconds=AMOUNT,
    last=ROW,
    validation=partial(part=TEXT, metric=TEXT),
    best=ROW,
    test=or_null(_VALUES),
    backend=TEXT,
)
# What tables and figures need of the summary of a run.
FINISHED = {
    **SUMMARY,
    "required": [
        *("parameters", "layers", "multiply_adds", "epochs", "images_seen", "seconds"),
        *("validation", "best", "test"),
    ],
}
RUN = {**partial(backend=TEXT, schedules=array(count(1), 1)), "required": ["backend"]}
