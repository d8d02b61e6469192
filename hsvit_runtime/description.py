"""The description of a model that is stored inside its `.keras`, `.tflite` or `.onnx` file."""

import dataclasses

from hsvit_runtime import json_files
from hsvit_runtime.json_schemas import FLAG, NUMBER, TEXT, array, or_null, partial
from hsvit_runtime.resizing import Resizing

_SCHEMA = partial(
    task=or_null(TEXT),
    class_names=or_null(array(TEXT)),
    data_set=or_null(TEXT),
    input_range=or_null({**array(NUMBER, 2), "maxItems": 2}),
    probabilities=FLAG,
    resizing=or_null(partial()),
)


@dataclasses.dataclass(frozen=True)
class Description:
    """What a model is for, which input it expects and what its outputs mean.

    Attributes are None where they are not known.

    Attributes:
        task: str, a name of `hsvit_keras.tasks`, such as "classification".
        class_names: tuple of str, one for each index of the outputs' last axis.
        data_set: str, the data set that the model was trained on, such as "digits".
        input_range: (low, high), the input values of a black and a white pixel.
        probabilities: bool, whether the outputs are probabilities (after a softmax) instead of logits.
        resizing: `Resizing`, how pictures of other sizes become inputs.
    """

    task: str | None = None
    class_names: tuple | None = None
    data_set: str | None = None
    input_range: tuple | None = None
    probabilities: bool = False
    resizing: Resizing | None = None

    def to_json(self):
        """dict of plain values that `from_json` reads."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return plain | {"resizing": self.resizing and self.resizing.to_json()}

    @classmethod
    def from_json(cls, content):
        """Makes a `Description` of the dict of `to_json`; unknown keys are ignored.

        Raises:
            InputError: a value is of another kind.
        """
        json_files.check(content, _SCHEMA, "the description")
        known = {field.name for field in dataclasses.fields(cls)}
        values = {name: value for name, value in content.items() if name in known}
        for name in ("class_names", "input_range"):
            if values.get(name) is not None:
                values[name] = tuple(values[name])
        if values.get("resizing") is not None:
            values["resizing"] = Resizing.from_json(values["resizing"])
        return cls(**values)
