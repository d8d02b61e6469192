"""The model of a config, and what is kept of it."""

import hsvit_keras
from data_sets.catalog import check_name
from hsvit_keras.compression.rewriting import with_dtype
from hsvit_keras.fine_tuning import thaw
from hsvit_keras.models.image_model import ImageModel
from hsvit_keras.models.registry import check_arguments
from hsvit_runtime.errors import InputError
from training.fitting.augmentation import read_table
from training.fitting.distribution import undistributed
from training.fitting.open_values import load_any


def check_names(values):
    """Says what is unknown in a plain config before a data set is opened: model, argument, data or operation.

    Raises:
        ValueError: there is no such one, or an operation does not take its arguments.
    """
    check_name(values["data"])
    read_table(values["augmentation"])
    if values["init"] is None:
        try:
            check_arguments(values["model"], values["model_arguments"])
        except TypeError as error:
            raise InputError(f"config.model_arguments: {error}") from error


def build_model(values, class_names, source=None):
    """Makes the model of a config.

    Args:
        values: plain config, without anything to be found.
        class_names: sequence of str.
        source: `keras.Model` that is trained on, with a new head, or None for a model with fresh weights.

    Returns:
        A `keras.Model` from pixels of 0 to 255 to logits, which carries class names and data set.

    Raises:
        ValueError: the model, or an argument of it, is unknown or does not fit; or the weights of
            `config.image_model` do not.
    """
    try:
        if source is not None:
            return hsvit_keras.adapt(
                source,
                num_classes=len(class_names),
                input_shape=values["image_shape"],
                input_range=values["init_input_range"],
                dtype=values["dtype"],
                class_names=class_names,
                data_set=values["data"],
                **values["model_arguments"],
            )
        model = hsvit_keras.create_model(
            values["model"],
            input_shape=tuple(values["image_shape"]),
            num_classes=len(class_names),
            dtype=values["dtype"],
            mean=values["mean"],
            std=values["std"],
            class_names=class_names,
            data_set=values["data"],
            **values["model_arguments"],
        )
        if values["image_model"] is not None:
            hsvit_keras.load_backbone(model, load_any(values["image_model"]))
        return model
    except TypeError as error:  # an argument is unknown, or of another type than it has to be
        raise InputError(f"config.model_arguments: {error}") from error


class FloatCopy:
    """Gives a float32 copy of a model in training, without optimizer: what is deployed.

    Args:
        model: `keras.Model` as a Functional graph.
    """

    def __init__(self, model):
        self._model = model
        with undistributed():
            if isinstance(model, ImageModel):
                self._copy = type(model).from_config({**model.get_config(), "dtype": "float32"})
            else:
                self._copy = with_dtype(model, "float32")
        thaw(self._copy)  # what is frozen in training is not so in the file

    def __call__(self):
        self._copy.set_weights(self._model.get_weights())
        return self._copy
