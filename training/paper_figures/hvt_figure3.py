"""HVT, Figure 3: feature maps of ResNet-50, DeiT-S and HVT-S-1, in front of their first stage and behind.

As in the paper, the sequence that HVT has pooled is interpolated to its length before, and shown as a map. Of
each tensor the channels are shown that vary most over the image.
"""

import numpy as np

from command_line import plots
from training.paper_figures import hvt
from training.tabulating.paper import Row
from training.visualizing import inside
from training.visualizing.paper_figure import PaperFigure

_CHANNELS = 8
# The layers of each model, by the paper's names.
_LAYERS = {
    "ResNet-50": {"conv1": "stem_conv_relu", "conv4_2": "stage2_block1_relu"},
    "DeiT-S": {"linear projection": "patch_embedding", "block1": "block0_mlp_add"},
    "HVT-S-1": {"linear projection": "patch_embedding", "block1, pooled": "block0_pool"},
}
_MODELS = {"ResNet-50": "resnet50", "DeiT-S": "deit_small", "HVT-S-1": "hvt_s_1"}


def get_figure():
    rows = [Row(name, model) for name, model in _MODELS.items()]
    return PaperFigure(hvt.table(3, rows), _draw, _measure)


def _measure(trained):
    from hsvit_keras.model_files import load_model

    numbers, layers = {}, []
    for cell, run in trained.runs():
        model, (images, _) = load_model(run.model), trained.images(cell, run, 1)
        numbers.setdefault("picture", images[0])
        for title, name in _LAYERS[cell.row.name].items():
            maps = as_map(inside.values(model, model.get_layer(name).output, images)[0], _grid(model))
            key = f"maps{len(layers)}"
            numbers[key] = inside.liveliest(maps, _CHANNELS)
            layers.append({"model": cell.row.name, "layer": title, "size": list(maps.shape), "maps": key})
    return {**numbers, "layers": layers}


def _grid(model):
    """Height and width of the map of patches; None for a model without."""
    if "patch_embedding" not in [layer.name for layer in model.layers]:
        return None
    return model.get_layer("patch_embedding").output.shape[1:3]


def as_map(tensor, grid):
    """Maps as they are; tokens on the grid of patches, a pooled sequence interpolated to its first length.

    Args:
        tensor: array `(height, width, channels)` or `(tokens, channels)`.
        grid: (height, width) of the patches, or None for maps.
    """
    if tensor.ndim == 3:
        return tensor
    count = grid[0] * grid[1]
    if len(tensor) > count:  # the class token in front
        tensor = tensor[-count:]
    if len(tensor) < count:
        places = np.linspace(0, len(tensor) - 1, count)
        channels = [np.interp(places, np.arange(len(tensor)), values) for values in tensor.T]
        tensor = np.stack(channels, axis=-1).astype(tensor.dtype)
    return tensor.reshape(*grid, -1)


def _draw(numbers):
    layers = numbers["layers"]
    figure = plots.new_figure((1.05 * (_CHANNELS + 1) + 0.4, 1.3 * len(layers) + 0.5))
    grid = figure.subplots(len(layers), _CHANNELS + 1, squeeze=False)
    for axes, layer in zip(grid, layers, strict=True):
        for one in axes:
            one.set_axis_off()
        height, width, _ = layer["size"]
        axes[0].imshow(numbers["picture"], cmap="gray", vmin=0, vmax=255)
        axes[0].set_title(f"{layer['model']}\n{layer['layer']}\n{height} x {width}", fontsize=7)
        maps = numbers[layer["maps"]]
        for channel in range(maps.shape[-1]):
            axes[1 + channel].imshow(maps[..., channel], cmap="viridis")
    return figure
