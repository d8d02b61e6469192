"""Short forms of the JSON schemas that files are read by, as in `record(rows=array(record(ms=AMOUNT)))`."""

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
NUMBER = {"type": "number", "minimum": -1e30, "maximum": 1e30}  # sums and squares of more would overflow
AMOUNT = {"type": "number", "minimum": 0, "maximum": 1e18}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_MANY = 10**6  # groups, shards or clients: more would only use up memory


def count(least=0, most=_MANY):
    """An integer."""
    return {"type": "integer", "minimum": least, "maximum": most}


def array(items, least=0):
    """A list of at least so many items, all of one schema."""
    return {"type": "array", "items": items, "minItems": least}


def record(**entries):
    """An object that has these entries, and may have others."""
    return {"type": "object", "required": list(entries), "properties": entries}


def partial(**entries):
    """An object whose entries, where it has them, are these; it may have others."""
    return {"type": "object", "properties": entries}


def mapping(values):
    """An object from any names to values of one schema."""
    return {"type": "object", "additionalProperties": values}


def or_null(schema):
    """The schema, or null."""
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


MEASURE = {
    **record(name=TEXT, title=TEXT, higher_is_better=FLAG, is_share=FLAG),
    "additionalProperties": False,
}
TASK = record(name=TEXT, metric=or_null(MEASURE), agreement=or_null(MEASURE))  # of `Task.to_json`
