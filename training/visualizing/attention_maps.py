"""Feature maps and class attention of an HSViT, as numbers and as a picture."""

import numpy as np

from command_line import plots
from hsvit_runtime.errors import InputError
from training.visualizing.inside import values


def feature_maps(model, images):
    """The output of the last convolutional stage: the maps that become tokens.

    Args:
        model: HSViT, also after passes that keep its layers' names.
        images: array `(batch, height, width, channels)` in the model's input range.

    Returns:
        float32 array `(batch, map height, map width, kernels)`; None without convolutions.

    Raises:
        ValueError: the model is no HSViT.
    """
    maps = _tensor_of_maps(model)
    if maps is model.inputs[0]:
        return None
    return values(model, maps, images)


def map_shape(model):
    """(height, width) of the feature maps of an HSViT."""
    return _tensor_of_maps(model).shape[1:3]


def class_attention(model, images, block=-1):
    """How the class token of each group spreads its attention, the mean of its heads.

    Args:
        model: HSViT, also after passes that keep its layers' names.
        images: array `(batch, height, width, channels)` in the model's input range.
        block: int, which attention block; negative from the end.

    Returns:
        float32 array `(batch, groups, 1 + kernels of a group)` that sums to 1 over its last axis, the class
        token first; None without attention. Token 1 + k of group g is kernel g * kernels of a group + k.

    Raises:
        ValueError: the model is no HSViT, or has no such block.
    """
    from hsvit_keras.layers import SoftmaxAttention

    _tensor_of_maps(model)
    blocks = [layer for layer in model.layers if isinstance(layer, SoftmaxAttention)]
    if not blocks:
        return None
    if not -len(blocks) <= block < len(blocks):
        raise InputError(f"block has to be from {-len(blocks)} to {len(blocks) - 1}; received block={block}")
    attention = blocks[block]
    query, key = values(model, list(attention.input[:2]), images)
    weights = np.asarray(attention.attention_weights(query, key), np.float32)[:, :, 0]
    groups = weights.shape[1] // attention.num_heads
    return weights.reshape(len(images), groups, attention.num_heads, -1).mean(2)


def most_attended(attention, kernels):
    """For each image and group the kernel with the largest weight, among all kernels.

    Args:
        attention: array `(batch, groups, 1 + kernels of a group)` of `class_attention`.
        kernels: int, all kernels of the last stage.

    Returns:
        int array `(batch, groups)`.
    """
    groups = attention.shape[1]
    return attention[:, :, 1:].argmax(-1) + np.arange(groups) * (kernels // groups)


def chosen_kernels(maps, attention, count):
    """Kernels to show: of each group the one that it attends to most; without attention, evenly spread ones.

    Args:
        maps: array of `feature_maps`.
        attention: array of `class_attention`, or None.
        count: int, how many at most.

    Returns:
        int array `(batch, at most count)`.
    """
    kernels = maps.shape[-1]
    if attention is not None:
        return most_attended(attention, kernels)[:, :count]
    spread = np.linspace(0, kernels - 1, min(count, kernels)).astype(int)
    return np.tile(spread, (len(maps), 1))


def maps_of(maps, kernels):
    """The maps `(batch, kernels of a row, height, width)` of the kernels chosen for each image."""
    return np.take_along_axis(np.moveaxis(maps, -1, 1), kernels[:, :, None, None], axis=1)


def figure_of(pictures, captions, maps=None, kernels=None, attention=None):
    """Draws a row for each image: the image, maps and how attention is spread.

    Args:
        pictures: array `(count, height, width, 1 or 3)` of 0 to 255.
        captions: list of str, one an image.
        maps: array of `maps_of`, or None.
        kernels: int array of `chosen_kernels`, whose maps these are, or None.
        attention: array of `class_attention`, or None.

    Returns:
        matplotlib figure.
    """
    width = 0 if maps is None else maps.shape[1]
    columns = 1 + width + (3 if attention is not None else 0)
    figure = plots.new_figure((columns * 1.1, len(pictures) * 1.35 + 0.3))
    grid = figure.add_gridspec(len(pictures), columns)
    for i, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        axes = figure.add_subplot(grid[i, 0])
        _show(axes, np.asarray(picture, np.uint8), caption, cmap="gray", vmin=0, vmax=255)
        for j in range(width):
            _show(figure.add_subplot(grid[i, 1 + j]), maps[i, j], f"kernel {kernels[i, j]}")
        if attention is not None:
            _show_attention(figure.add_subplot(grid[i, -3:]), attention[i], attention.max())
    return figure


def _show_attention(axes, weights, largest):
    axes.imshow(weights, aspect="auto", cmap="magma", vmin=0, vmax=largest)
    axes.set_title(f"class token's attention, at most {weights.max():.2f}", fontsize=7)
    axes.set_ylabel("group", fontsize=7)
    axes.set_xlabel("token", fontsize=7)
    axes.tick_params(labelsize=6)
    axes.grid(False)


def _show(axes, pixels, title, **options):
    axes.imshow(pixels, **options)
    axes.set_title(title, fontsize=7)
    axes.set_axis_off()


def _tensor_of_maps(model):
    names = [layer.name for layer in model.layers]
    if "flatten_maps" not in names:
        raise InputError(f"{model.name} is no HSViT: it has no layer named flatten_maps")
    return model.get_layer("flatten_maps").input
