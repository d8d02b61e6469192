"""What a model is for, in the words that travel inside its file: `.keras`, `.tflite` and `.onnx`."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Description:
    """What a model takes and what its outputs mean. None stands for what nobody says.

    Attributes:
        task: str, a name of `hsvit_keras.tasks`, such as "classification".
        class_names: tuple of str, one for each index of the outputs' last axis.
        data_set: str, the data set that the model was trained on, such as "digits".
        input_range: (low, high), the values that a black and a white pixel have in the model's input.
        probabilities: bool, whether a softmax stands behind the logits.
    """

    task: str | None = None
    class_names: tuple | None = None
    data_set: str | None = None
    input_range: tuple | None = None
    probabilities: bool = False

    def to_json(self):
        """dict of plain values that `from_json` reads."""
        values = dataclasses.asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, content):
        """The description in a dict; what this version does not know is left out."""
        known = {field.name for field in dataclasses.fields(cls)}
        values = {name: value for name, value in content.items() if name in known}
        for name in ("class_names", "input_range"):
            if values.get(name) is not None:
                values[name] = tuple(values[name])
        return cls(**values)
