"""What the report says that a converter writes beside an artifact, as JSON schemas."""

from hsvit_runtime.json_schemas import (
    FLAG,
    NUMBER,
    TASK,
    TEXT,
    array,
    count,
    mapping,
    or_null,
    partial,
    record,
)

_BYTES = count(0, 10**15)
_TENSOR = record(shape=array(or_null(count())), dtype=TEXT)
_COMPARED = {  # how near two models' outputs are
    **partial(samples=count(), data=or_null(TEXT), metrics=or_null(mapping(or_null(NUMBER)))),
    "additionalProperties": or_null(NUMBER),
}
_OPS = mapping(count())
# What tells such a report from other files, and what it may say besides.
ARTIFACT = {
    **partial(
        artifact=TEXT,
        sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"},
        parity=_COMPARED,
        parity_with_original=_COMPARED,
        preset=TEXT,
        bytes=_BYTES,
        input=_TENSOR,
        output=_TENSOR,
        inputs=array(_TENSOR),
        outputs=array(_TENSOR),
        ops={"anyOf": [count(), _OPS]},
        partitions=or_null(count()),
        fully_delegated=or_null(FLAG),
        undelegated_ops=or_null(array(record(op=TEXT, count=count(), reason=TEXT))),
        flex_ops=or_null(array(TEXT)),
        minimum_runtime=or_null(TEXT),
        opset=count(),
        task=TASK,
        description=partial(input_range=or_null({**array(NUMBER, 2), "maxItems": 2})),
    ),
    "required": ["artifact", "sha256", "parity"],
}
# What the report of a `.tflite` file says that is gone on with.
MADE = {**ARTIFACT, "required": [*ARTIFACT["required"], "bytes", "task", "preset", "parity_with_original"]}
