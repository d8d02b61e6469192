"""What all families have in common: named features, a head on them, and a graph saved by its arguments."""

import contextlib

import keras
import numpy as np
from keras import layers

from hsvit_keras.layers.model_description import with_description
from hsvit_runtime.errors import InputError

# Arguments of every family beside its own.
COMMON_ARGUMENTS = ("head", "mean", "std", "class_names", "data_set", "resizing")


class ImageModel(keras.Model):
    """A Functional graph from images to the outputs of a head, saved as the arguments of its constructor.

    With `head=None` the outputs are a dict of named features, as the backbone of a detector or a video model.
    `num_classes` and `class_names` are not used then. Each class names its features; maps are
    `(batch, height, width, channels)`.

    With `mean` and `std` the model takes pixels of 0 to 255 and normalizes them in its first layer; without
    them it takes images as its authors' program does, usually normalized ones.

    Args:
        build_features: function from the image, a KerasTensor `(batch, height, width, channels)`, to the
            features, a dict from names to KerasTensors.
        build_head: function from that dict to the outputs, such as logits.
        arguments: dict with every argument of the subclass's constructor, see `constructor_arguments`.
            Each becomes an attribute, but for those that a model has already under that name
            (`input_shape`, `dtype`, `name`).
        head: str, the class's `task`, or None for the features.
        mean: float or sequence of float, one a channel, subtracted from pixels of 0 to 1.
        std: float or sequence of float, one a channel, which divides them after that.
        class_names: sequence of str, the names of the classes, which travel in the model's file.
        data_set: str, the name of the data set that the model is trained on, which travels there, too.
        resizing: dict of `filter` and `size`, how pictures of other sizes become inputs, see
            `hsvit_runtime.resizing.Resizing`; what prepares images for the model does it that way.

    Raises:
        InputError: there is no such head, `mean` and `std` do not fit the channels, or `class_names` do not
            fit the logits.
    """

    task = "classification"  # what the head is for, a name of `hsvit_keras.tasks`

    def __init__(
        self,
        build_features,
        build_head,
        arguments,
        *,
        head="classification",
        mean=None,
        std=None,
        class_names=None,
        data_set=None,
        resizing=None,
        **kwargs,
    ):
        if head not in (self.task, None):
            raise InputError(f"head has to be {self.task!r} or None; received head={head!r}")
        description = {
            "mean": mean, "std": std, "class_names": class_names, "data_set": data_set, "resizing": resizing,
        }  # fmt: skip
        common = {"head": head, **description}
        arguments = {**arguments, **{name: as_plain(value) for name, value in common.items()}}
        with _layers_of(arguments["dtype"]):
            image = keras.Input(arguments["input_shape"], dtype="float32", name="image")
            takes_pixels = mean is not None or std is not None
            outputs = build_features(_normalized(image, mean, std) if takes_pixels else image)
            if head is not None:
                outputs = build_head(outputs)
                _check_class_names(class_names, outputs)
            if any(value is not None for value in description.values()):
                outputs = with_description(
                    outputs,
                    task=head,
                    class_names=class_names if head is not None else None,
                    data_set=data_set,
                    input_range=(0, 255) if takes_pixels else None,
                    resizing=resizing,
                )
        super().__init__(inputs=image, outputs=outputs, name=arguments["name"], **kwargs)
        self._arguments = arguments
        self._policies = {layer.name: layer.dtype_policy for layer in self.layers}
        for name, value in arguments.items():
            if not hasattr(ImageModel, name):
                setattr(self, name, value)

    def get_config(self):
        config = {**self._arguments, "dtype": self._arguments["dtype"].name, "trainable": self.trainable}
        changed = self._changed_layers()
        return {**config, "changed_layers": changed} if changed else config

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        changed = config.pop("changed_layers", {})
        model = cls(**config)
        for name, changes in changed.items():
            _change(model.get_layer(name), **changes)
        return model

    def _changed_layers(self):
        """What was changed at layers after construction: frozen ones, other dtype policies, LoRA."""
        changed = {}
        for layer in self.layers:
            changes = {}
            if self.trainable and not layer.trainable:
                changes["trainable"] = False
            if layer.dtype_policy != self._policies[layer.name]:
                changes["dtype"] = keras.dtype_policies.serialize(layer.dtype_policy)
            if getattr(layer, "lora_enabled", False):
                changes["lora_rank"] = layer.lora_rank
            if changes:
                changed[layer.name] = changes
        return changed


def _change(layer, trainable=True, dtype=None, lora_rank=None):
    """Changes a layer as `ImageModel._changed_layers` says."""
    policy = layer.dtype_policy if dtype is None else keras.dtype_policies.get(dtype)
    if isinstance(policy, keras.dtype_policies.QuantizedDTypePolicy):
        layer.quantize(policy.quantization_mode)
    elif dtype is not None:
        layer.dtype_policy = policy
    if lora_rank is not None:
        layer.enable_lora(lora_rank)
    layer.trainable = trainable


def constructor_arguments(scope):
    """The arguments of a constructor as plain values, the dtype as a policy.

    Args:
        scope: `locals()`, as the first thing that a constructor calls.
    """
    arguments = {name: value for name, value in scope.items() if name not in ("self", "kwargs", "__class__")}
    arguments["dtype"] = keras.dtype_policies.get(arguments["dtype"] or keras.config.dtype_policy())
    return {name: as_plain(value) for name, value in arguments.items()}


def as_plain(value):
    """NumPy's numbers as Python's, lists and arrays as tuples, also inside of a dict; all else as it is."""
    if isinstance(value, dict):
        return {key: as_plain(entry) for key, entry in value.items()}
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    return tuple(value) if isinstance(value, list) else value


def _normalized(image, mean, std):
    """Pixels of 0 to 255 as `(pixels / 255 - mean) / std`, in float32 whatever the policy."""
    mean, std = (
        np.asarray(default if value is None else value, "float64")
        for value, default in ((mean, 0.0), (std, 1.0))
    )
    channels = image.shape[-1]
    fit = all(values.size in (1, channels) and np.isfinite(values).all() for values in (mean, std))
    if not fit or not (std > 0).all():
        raise InputError(
            f"mean and std have to be one number or one for each of the {channels} channels, std above 0; "
            f"received mean={mean.tolist()}, std={std.tolist()}"
        )
    scale, offset = 1 / (255 * std), -mean / std
    return layers.Rescaling(scale.tolist(), offset.tolist(), dtype="float32", name="normalization")(image)


def _check_class_names(class_names, outputs):
    logits = outputs["logits"] if isinstance(outputs, dict) else outputs
    if class_names is not None and len(class_names) != logits.shape[-1]:
        raise InputError(
            f"class_names has to name each of the {logits.shape[-1]} classes; "
            f"received {len(class_names)} names"
        )


@contextlib.contextmanager
def _layers_of(policy):
    """Layers made inside have this dtype policy and channels last, whatever Keras is configured to."""
    outer = keras.config.dtype_policy(), keras.config.image_data_format()
    keras.config.set_dtype_policy(policy)
    keras.config.set_image_data_format("channels_last")
    try:
        yield
    finally:
        keras.config.set_dtype_policy(outer[0])
        keras.config.set_image_data_format(outer[1])
