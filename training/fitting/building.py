"""The model of a config, and what is kept of it."""

import hsvit_keras
from hsvit_runtime.errors import InputError
from training.fitting.distribution import undistributed


def build_model(values, class_names):
    """Makes the model of a config.

    Args:
        values: plain config.
        class_names: sequence of str.

    Returns:
        A `keras.Model` from pixels of 0 to 255 to logits, which carries class names and data set.

    Raises:
        ValueError: the model, or an argument of it, is unknown or does not fit.
    """
    try:
        return hsvit_keras.create_model(
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
    except TypeError as error:  # an argument is unknown, or of another type than it has to be
        raise InputError(f"config.model_arguments: {error}") from error


class FloatCopy:
    """Gives a float32 copy of a model in training, without optimizer: what is deployed.

    Args:
        model: `keras.Model` with a `dtype` in its config.
    """

    def __init__(self, model):
        self._model = model
        with undistributed():
            self._copy = type(model).from_config({**model.get_config(), "dtype": "float32"})

    def __call__(self):
        self._copy.set_weights(self._model.get_weights())
        return self._copy
