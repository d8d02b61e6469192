"""Metadata of a model, as a layer of its graph: passes keep it and it is saved with the model."""

import keras

from hsvit_runtime.description import Description
from hsvit_runtime.resizing import Resizing


@keras.saving.register_keras_serializable("hsvit_keras")
class ModelDescription(keras.layers.Layer):
    """Holds what a model takes and what its output means; the output passes unchanged.

    Args:
        task: str, a name of `hsvit_keras.tasks`, such as `"classification"`; None where it is not known.
        class_names: sequence of str, one for each index of the output's last axis, or None.
        data_set: str, the data set that the model was trained on, or None.
        input_range: (low, high), the values of a black and of a white pixel in the input, or None.
        resizing: dict of the attributes of `hsvit_runtime.resizing.Resizing`, how pictures become inputs, or
            None.

    Call arguments:
        outputs: Tensor of any shape.

    Returns:
        The same tensor.
    """

    def __init__(self, task=None, class_names=None, data_set=None, input_range=None, resizing=None, **kwargs):
        super().__init__(**{"dtype": "float32", "autocast": False, **kwargs})
        self.description = Description(
            task=task,
            class_names=None if class_names is None else tuple(class_names),
            data_set=data_set,
            input_range=None if input_range is None else tuple(input_range),
            resizing=None if resizing is None else Resizing.from_json(resizing),
        )

    def call(self, outputs):
        return outputs

    def compute_output_spec(self, outputs):
        return keras.KerasTensor(outputs.shape, outputs.dtype)

    def get_config(self):
        return {**super().get_config(), **_arguments_of(self.description)}


def description_of(model):
    """The `Description` of a model; an empty one where it has none."""
    layers = [layer for layer in getattr(model, "layers", ()) if isinstance(layer, ModelDescription)]
    return layers[-1].description if layers else Description()


def describe(model, **description):
    """A model with a `Description`.

    Args:
        model: `keras.Model`.
        **description: arguments of `ModelDescription`; the others keep the values that the model has.

    Returns:
        A `keras.Model` of the same layers, whose output, the first of several, passes a `ModelDescription`.
    """
    known = _arguments_of(description_of(model))

    def without_description(output):
        layer = output._keras_history.operation
        return layer.input if isinstance(layer, ModelDescription) else output

    outputs = keras.tree.map_structure(without_description, model.output)
    return keras.Model(model.input, with_description(outputs, **{**known, **description}), name=model.name)


def _arguments_of(description):
    """The arguments of `ModelDescription` of a `Description`."""
    names = ("task", "class_names", "data_set", "input_range")
    resizing = description.resizing
    return {
        **{name: getattr(description, name) for name in names},
        "resizing": None if resizing is None else resizing.to_json(),
    }


def with_description(outputs, **description):
    """Outputs of a graph, the first of which passes a `ModelDescription`.

    Args:
        outputs: KerasTensor, or a list or dict of them.
        **description: arguments of `ModelDescription`.
    """
    first, *others = keras.tree.flatten(outputs)
    first = ModelDescription(**description, name="description")(first)
    return keras.tree.pack_sequence_as(outputs, [first, *others])
