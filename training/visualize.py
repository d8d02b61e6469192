"""What an HSViT sees in images, as in Figure 4 of its paper (https://arxiv.org/abs/2404.05196).

    python -m training.visualize --model=RUN/best.keras --data=digits --output=maps.png

A row for each image: the image; for each attention group the feature map, behind the last convolution, of
the kernel that the group's class token attends to most; and how this token's attention is spread over all
tokens of its group, the mean of its heads. The numbers are written beside the picture as JSON.
"""

import pathlib

import numpy as np
from absl import flags

from command_line import commands
from data_sets import DATASETS, load_dataset, sample_images
from hsvit_keras import model_files
from hsvit_runtime.errors import InputError
from hsvit_runtime.files import replacing, write_json

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("model", None, "An HSViT as a .keras file.", required=True)
    flags.DEFINE_string("output", None, "A .png file to write.", required=True)
    flags.DEFINE_string("data", "digits", f"The image set: {', '.join(DATASETS)}.")
    flags.DEFINE_string("data_dir", None, "Folder with the set's official files.")
    flags.DEFINE_integer("count", 5, "How many images.", lower_bound=1)
    flags.DEFINE_integer("groups", 12, "How many attention groups at most.", lower_bound=1)
    flags.DEFINE_integer("block", -1, "Which attention block; the last by default.")
    flags.DEFINE_integer("seed", 0, "Decides which images.", lower_bound=0)


def main(_):
    output = pathlib.Path(FLAGS.output)
    if output.suffix != ".png":
        raise InputError(f"--output has to end in .png; received {output}")
    model = model_files.load_model(FLAGS.model)
    mean, std = model_files.normalization_beside(FLAGS.model)
    dataset = load_dataset(FLAGS.data, "test", FLAGS.data_dir)
    sample = {"count": FLAGS.count, "image_shape": model.input_shape[1:], "seed": FLAGS.seed}
    pictures, labels = sample_images(dataset, mean=0.0, std=1.0, **sample)
    images, _ = sample_images(dataset, mean=mean, std=std, **sample)
    maps, attention = feature_maps(model, images), class_attention(model, images, FLAGS.block)
    for missing, kind in (
        (maps, "feature maps: it has no convolution"),
        (attention, "attention: it has none"),
    ):
        if missing is None:
            print(f"{FLAGS.model}: no {kind}")
    answers = np.asarray(model(images)).argmax(-1)
    names = dataset.class_names
    rows = [
        {"label": names[label], "answer": names[answer]}
        for label, answer in zip(labels, answers, strict=True)
    ]
    draw(pictures, rows, maps, attention, FLAGS.groups, output)
    if attention is not None:
        for row, weights in zip(rows, attention, strict=True):
            row["class_attention"] = weights.astype(float).round(5).tolist()
    write_json(output.with_suffix(".json"), {"model": FLAGS.model, "data": FLAGS.data, "images": rows})
    print(f"wrote {output} and {output.with_suffix('.json')}")


def feature_maps(model, images):
    """What the last convolutional stage makes of images: the maps that become tokens.

    Args:
        model: HSViT, also after passes that keep its layers' names.
        images: array `(batch, height, width, channels)`, normalized as for training.

    Returns:
        float32 array `(batch, map height, map width, kernels)`; None without convolutions.

    Raises:
        ValueError: the model is no HSViT.
    """
    maps = _tensor_of_maps(model)
    if maps is model.inputs[0]:
        return None
    return _values(model, maps, images)


def class_attention(model, images, block=-1):
    """How the class token of each group spreads its attention, the mean of its heads.

    Args:
        model: HSViT, also after passes that keep its layers' names.
        images: array `(batch, height, width, channels)`, normalized as for training.
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
    query, key = (_values(model, tensor, images) for tensor in attention.input[:2])
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


def draw(pictures, rows, maps, attention, max_groups, path):
    """Draws a row for each image.

    Args:
        pictures: array `(count, height, width, 1 or 3)` of 0 to 1.
        rows: list of dicts with `label` and `answer`.
        maps: array of `feature_maps`, or None.
        attention: array of `class_attention`, or None.
        max_groups: int, how many groups, or kernels where there are no groups, at most.
        path: path of the .png to write.
    """
    from matplotlib.figure import Figure

    chosen = None if maps is None else _chosen_kernels(maps, attention, max_groups)
    columns = 1 + (0 if chosen is None else chosen.shape[1]) + (3 if attention is not None else 0)
    figure = Figure(figsize=(columns * 1.1, len(rows) * 1.35 + 0.3), layout="constrained")
    grid = figure.add_gridspec(len(rows), columns)
    for i, row in enumerate(rows):
        _show(figure.add_subplot(grid[i, 0]), pictures[i], _caption(row), cmap="gray", vmin=0, vmax=1)
        for j, kernel in enumerate([] if chosen is None else chosen[i]):
            _show(figure.add_subplot(grid[i, 1 + j]), maps[i, :, :, kernel], f"kernel {kernel}")
        if attention is not None:
            axes = figure.add_subplot(grid[i, -3:])
            axes.imshow(attention[i], aspect="auto", cmap="magma", vmin=0, vmax=attention.max())
            axes.set_title(f"class token's attention, at most {attention[i].max():.2f}", fontsize=7)
            axes.set_ylabel("group", fontsize=7)
            axes.set_xlabel("token", fontsize=7)
            axes.tick_params(labelsize=6)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120)


def _chosen_kernels(maps, attention, max_groups):
    kernels = maps.shape[-1]
    if attention is not None:
        return most_attended(attention, kernels)[:, :max_groups]
    spread = np.linspace(0, kernels - 1, min(max_groups, kernels)).astype(int)
    return np.tile(spread, (len(maps), 1))


def _show(axes, pixels, title, **options):
    axes.imshow(pixels, **options)
    axes.set_title(title, fontsize=7)
    axes.set_axis_off()


def _caption(row):
    return row["label"] if row["answer"] == row["label"] else f"{row['label']} (taken for {row['answer']})"


def _tensor_of_maps(model):
    names = [layer.name for layer in model.layers]
    if "flatten_maps" not in names:
        raise InputError(f"{model.name} is no HSViT: it has no layer named flatten_maps")
    return model.get_layer("flatten_maps").input


def _values(model, tensor, images):
    import keras

    return np.asarray(keras.Model(model.inputs[0], tensor)(images), np.float32)


if __name__ == "__main__":
    define_flags()
    commands.run(main)
