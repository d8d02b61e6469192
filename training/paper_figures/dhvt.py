"""What the figures of DHVT's supplement have in common: models of its parts, and pictures of attention."""

import numpy as np

from command_line import plots
from training.tables import dhvt
from training.visualizing import inside

# Supplement, section 2.3; "woabs" is without absolute positions. Accuracies of these runs are not printed.
_PARTS = {**dhvt.SOPE, **dhvt.DAFF}
MODULES = {
    "baseline": dhvt.VIT,
    "+ head token": {**dhvt.VIT, **dhvt.HEAD_TOKENS},
    "+ SOPE": {**dhvt.VIT, **dhvt.SOPE},
    "+ DAFF": {**dhvt.VIT, **dhvt.DAFF},
    "+ SOPE + DAFF": {**dhvt.VIT, **_PARTS},
    "+ SOPE + DAFF, woabs": {**dhvt.VIT, **_PARTS, **dhvt.WITHOUT_POSITIONS},
    "DHVT full": {},
}
_LAYERS = (2, 5, 8, 11)  # which the paper shows, counted from 1


def table(place, names):
    """The runs of some models of `MODULES`.

    Args:
        place: str, such as "Figure 1".
        names: iterable of keys of `MODULES`.
    """
    rows = [dhvt.ablation(name, None, MODULES[name]) for name in names]
    return dhvt.table(place, dhvt.RECIPES, rows, image_size=32)


def measure_attention(trained, count=3):
    """Attention of a DHVT: the `measure` of a `PaperFigure`.

    Args:
        trained: `Trained`.
        count: int, images.

    Returns:
        dict of `layers`, which blocks, counted from 1; `pictures`; `attention`, array
        `(images, layers, tokens, tokens)`, the mean of the heads; and `head_attention`, array
        `(images, layers, heads, height, width)`: how each head token attends to the patches in its own head.
    """
    from hsvit_keras.model_files import load_model

    (cell, run), *_ = trained.runs()
    model, (images, labels) = load_model(run.model), trained.images(cell, run, count)
    layers = [layer for layer in _LAYERS if layer <= model.depth]
    weights = np.stack(
        [inside.attention_weights(model, f"block{layer - 1}_attention", images) for layer in layers], axis=1
    )
    return {
        "run": run.path.name,
        "labels": labels.tolist(),
        "layers": layers,
        "pictures": images,
        "attention": weights.mean(2),
        "head_attention": head_attention(weights, model.get_layer("patch_tokens").input.shape[1:3]),
    }


def head_attention(weights, grid):
    """Each head token's attention to the patches in the head that it is made from.

    Args:
        weights: array `(..., heads, tokens, tokens)`; tokens are the class token, patches and head tokens.
        grid: (height, width) of the patches.

    Returns:
        array `(..., heads, height, width)`.
    """
    heads, patches = weights.shape[-3], grid[0] * grid[1]
    of_heads = [weights[..., head, 1 + patches + head, 1 : 1 + patches] for head in range(heads)]
    return np.stack(of_heads, axis=-2).reshape(*weights.shape[:-3], heads, *grid)


def draw_attention(numbers, with_heads=True):
    """Draws a row for each image: the image, mean attention by layer, and head tokens by layer.

    Args:
        numbers: dict of `measure_attention`.
        with_heads: bool, whether the head tokens' attention is drawn.

    Returns:
        matplotlib figure.
    """
    layers, count = numbers["layers"], len(numbers["pictures"])
    columns = 1 + len(layers) * (2 if with_heads else 1)
    figure = plots.new_figure((1.5 * columns, 1.75 * count + 0.4))
    grid = figure.add_gridspec(count, columns)
    for image in range(count):
        _show(
            figure.add_subplot(grid[image, 0]), numbers["pictures"][image], "", cmap="gray", vmin=0, vmax=255
        )
        for place, layer in enumerate(layers):
            maps = numbers["attention"][image, place]
            _show(figure.add_subplot(grid[image, 1 + place]), maps, f"layer {layer}", cmap="magma")
            if with_heads:
                heads = mosaic(numbers["head_attention"][image, place])
                axes = figure.add_subplot(grid[image, 1 + len(layers) + place])
                _show(axes, heads, f"head tokens, layer {layer}", cmap="magma")
    return figure


def mosaic(maps):
    """Maps in rows of a square, each from 0 to 1, with a pixel of nothing between them.

    Args:
        maps: array `(count, height, width)`.
    """
    count, side = len(maps), int(np.ceil(np.sqrt(len(maps))))
    low, high = maps.min((1, 2), keepdims=True), maps.max((1, 2), keepdims=True)
    scaled = (maps - low) / np.maximum(high - low, 1e-12)
    framed = np.pad(scaled, ((0, side**2 - count), (0, 1), (0, 1)), constant_values=np.nan)
    framed[count:] = np.nan
    _, height, width = framed.shape
    rows = framed.reshape(side, side, height, width).transpose(0, 2, 1, 3)
    return rows.reshape(side * height, side * width)[:-1, :-1]


def _show(axes, pixels, title, **options):
    axes.imshow(pixels, interpolation="nearest", **options)
    axes.set_title(title, fontsize=7)
    axes.set_axis_off()
