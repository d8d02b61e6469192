"""`adapt`: a trained model becomes one for other classes and images of another size."""

import keras
from keras import layers

from hsvit_keras.checkpoints.trunk_weights import with_weights_of
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.quantization import is_quantized, remove_quantization
from hsvit_keras.compression.rewriting import config_of, rewrite
from hsvit_keras.fine_tuning.heads import last_part
from hsvit_keras.fine_tuning.thawing import thaw
from hsvit_keras.layers.model_description import describe, description_of
from hsvit_keras.models.image_model import ImageModel
from hsvit_keras.models.registry import resized_arguments, suggest
from hsvit_runtime.errors import InputError

PIXELS = (0.0, 255.0)


def adapt(
    model,
    *,
    num_classes,
    input_shape=None,
    class_names=None,
    data_set=None,
    input_range=None,
    dtype=None,
    interpolation="bicubic",
    **overrides,
):
    """Makes a model with the trunk of a trained one and a new head, as the beginning of fine-tuning.

    Args:
        model: `keras.Model` that classifies images, of this package or of another library, as a Functional
            graph or `keras.Sequential`. It is not modified. One without a head gets a mean over its map, or
            its tokens, and a head.
        num_classes: int, number of logits.
        input_shape: (height, width, channels) in pixels, with the channels of `model`; its own by default.
            Positions of tokens and biases of attention are interpolated, and pooling of HSViT follows the
            size. Models of other libraries take another size where no weight depends on it.
        class_names: sequence of str, or None.
        data_set: str, the data set that the model is to be trained on, or None.
        input_range: (low, high), the values of a black and a white pixel in the input of `model`, needed
            where it does not say them.
        dtype: dtype policy of all layers; the global one by default.
        interpolation: str, `"bicubic"` or `"bilinear"`.
        **overrides: constructor arguments that are to differ, for a model of this package, such as
            `stochastic_depth_rate=0.1`.

    Returns:
        A `keras.Model` from pixels of 0 to 255 to logits, all of whose layers are trained. It resizes
        pictures as `model` does.

    Raises:
        InputError: the images do not fit, an argument does not, or nothing says the values of pixels.

    Example:

    ```python
    tuned = hsvit_keras.adapt(keras.models.load_model("best.keras"), num_classes=10)
    ```
    """
    if is_quantized(model):
        model = remove_quantization(model)
    own_shape = _own_shape(model)
    shape = own_shape if input_shape is None else tuple(input_shape)
    _check_shape(model, own_shape, shape)
    said = description_of(model)
    if (input_range or said.input_range) is None:
        raise InputError(
            f"{model.name} does not say which values its pixels have: give those of black and white by "
            "input_range, such as (0, 255) or (-1, 1)"
        )
    description = {"class_names": class_names, "data_set": data_set}
    input_range = said.input_range or tuple(map(float, input_range))
    if isinstance(model, ImageModel):
        changes = {"num_classes": num_classes, "dtype": dtype, **description, **overrides}
        return _ours(model, own_shape, shape, interpolation, input_range, changes)
    if overrides:
        raise InputError(
            f"{model.name} has no arguments to override, it is no model of this package; received "
            f"{', '.join(overrides)}"
        )
    trunk = _trunk(model, own_shape, shape, dtype, input_range)
    output = _with_head(trunk, num_classes, dtype)
    return describe(
        keras.Model(trunk.input, output, name=model.name),
        task="classification",
        input_range=PIXELS,
        resizing=_json(resizing_for(model, shape)),
        **description,
    )


def resizing_for(model, input_shape):
    """How pictures become inputs of another size of a model that says it of its own; else None.

    Args:
        model: `keras.Model`.
        input_shape: (height, width, channels) in pixels.

    Returns:
        `hsvit_runtime.resizing.Resizing`, or None.
    """
    resizing = description_of(model).resizing
    if resizing is None:
        return None
    old = [own or side for own, side in zip(_own_shape(model), input_shape, strict=True)]
    return resizing.to_input(old[:2], input_shape[:2])


# ---- models of this package ------------------------------------------------------------------------
def _ours(model, own_shape, shape, interpolation, input_range, changes):
    config = model.get_config()
    config.pop("changed_layers", None)
    config.pop("trainable")
    unknown = [name for name in changes if name not in config]
    if unknown:
        raise InputError(f"{model.name} has no argument {unknown[0]!r}; {suggest(unknown[0], config)}")
    if own_shape != shape:
        config |= resized_arguments(config, own_shape, shape)
        config["resizing"] = _json(resizing_for(model, shape))
    if input_range != PIXELS:  # normalization makes what the model takes of pixels
        low, high = input_range
        config |= {"mean": -low / (high - low), "std": 1 / (high - low)}
    config |= {"input_shape": shape, "head": model.task}
    return with_weights_of(model, type(model)(**{**config, **changes}), interpolation)


def _json(resizing):
    return None if resizing is None else resizing.to_json()


# ---- models of other libraries ---------------------------------------------------------------------
def _trunk(model, own_shape, shape, dtype, input_range):
    """A copy of a model without its head, behind a layer that makes its pixels of those of 0 to 255."""
    graph = Graph(model)
    left_out = {graph.path(operation) for operation in last_part(graph)}

    def replace(path, layer):
        if dtype is None or path in left_out:
            return None
        return type(layer).from_config({**config_of(layer), "dtype": dtype})

    def call(path, layer, *args, **kwargs):
        return args[0] if path in left_out else layer(*args, **kwargs)

    def read(path, tensor):
        return _as_its_pixels(tensor, input_range)

    try:
        trunk = rewrite(graph, replace, call, read, image_shape=shape)
    except InputError:
        raise
    except Exception as error:  # whatever layers say of a map that they were not made for
        if shape == own_shape:
            raise
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{model.name} cannot take images of {shape}: {reason}") from error
    thaw(trunk)
    return trunk


def _as_its_pixels(pixels, input_range):
    low, high = input_range
    if (low, high) == PIXELS:
        return pixels
    scale = (high - low) / 255
    return layers.Rescaling(scale, low, dtype="float32", name="pixels")(pixels)


def _with_head(trunk, num_classes, dtype):
    features = trunk.output
    if len(features.shape) > 2:
        pool = {3: layers.GlobalAveragePooling1D, 4: layers.GlobalAveragePooling2D}[len(features.shape)]
        features = pool(name="head_mean", dtype=dtype)(features)
    return layers.Dense(num_classes, name="head", dtype=dtype)(features)


# ---- checks ----------------------------------------------------------------------------------------
def _own_shape(model):
    one_output = len(model.outputs) == 1 or isinstance(model, ImageModel)
    if len(model.inputs) != 1 or not one_output or len(model.inputs[0].shape) != 4:
        raise InputError(
            f"{model.name} has to take images (batch, height, width, channels) and give one output; it takes "
            f"{[tensor.shape for tensor in model.inputs]} and gives {[t.shape for t in model.outputs]}"
        )
    return tuple(model.inputs[0].shape[1:])


def _check_shape(model, own, shape):
    if len(shape) != 3 or shape[2] != own[2] or None in shape:
        raise InputError(
            f"input_shape has to be (height, width, {own[2]}), the channels those of {model.name}; received "
            f"input_shape={shape}"
        )
