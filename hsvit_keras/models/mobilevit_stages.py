"""What MobileViT and MobileViTV2 share: stages of inverted residuals, the last of which have transformers."""

from keras import layers

from hsvit_keras.models import blocks
from hsvit_runtime.errors import InputError

PATCH_SIZE = 2  # of the transformers, in pixels of their map
_EPSILON = 1e-5  # of batch normalization


def stages(image, filters, depths, expand_ratios, hidden_dims, mlp_dims, block):
    """The stem and the stages, each of which but the first halves the map.

    Args:
        image: KerasTensor `(batch, height, width, channels)`.
        filters: sequence of int, of the stem and of each stage.
        depths: sequence of int, one a stage: inverted residuals, in the last stages transformer blocks.
        expand_ratios: sequence of float, one a stage.
        hidden_dims: sequence of int, one for each of the last stages, which have one inverted residual.
        mlp_dims: sequence of int, one for each of them.
        block: function from (maps, a number of `hidden_dims`, of `mlp_dims` and of `depths`, name) to maps,
            what follows the inverted residual of such a stage.

    Returns:
        dict of KerasTensors, the map at the end of `stage0`, `stage1` and so on.
    """
    maps, found = convolution(image, filters[0], 3, 2, "stem_conv"), {}
    without_transformer = len(depths) - len(hidden_dims)
    for i, depth in enumerate(depths):
        name, number = f"stage{i}", i - without_transformer
        for j in range(depth if number < 0 else 1):
            stride = 2 if i and not j else 1
            maps = _inverted_residual(maps, filters[i + 1], stride, expand_ratios[i], f"{name}_residual{j}")
        if number >= 0:
            maps = block(maps, hidden_dims[number], mlp_dims[number], depth, name)
        found[name] = maps
    return found


def convolution(maps, filters, kernel_size, stride, name, activation="silu"):
    """A convolution without bias, batch normalization, and an activation, or none."""
    maps = blocks.convolution(maps, filters, kernel_size, stride, False, name)
    return blocks.normalized(maps, name, activation)


def _inverted_residual(maps, filters, stride, expand_ratio, name):
    """A narrow map to many channels, a depthwise convolution, and back: MobileNetV2 with SiLU."""
    hidden_dim = blocks.rounded_width(round(maps.shape[-1] * expand_ratio))
    inner = blocks.inverted_residual(maps, filters, hidden_dim, 3, stride, _EPSILON, "silu", name)
    return layers.Add(name=f"{name}_add")([maps, inner]) if inner.shape == maps.shape else inner


def check_stages(arguments):
    """Checks the arguments that say what the stages are.

    Args:
        arguments: dict of a constructor's arguments; `filters`, `depths`, `expand_ratios`, `hidden_dims` and
            `mlp_dims` are checked.

    Raises:
        ValueError: one has a value that does not fit.
    """
    blocks.check_stages(arguments, "hidden_dims", "mlp_dims")
    blocks.check_stages(arguments, "depths")
    blocks.check_stages(arguments, "filters")
    blocks.check_numbers("expand_ratios", arguments["expand_ratios"], len(arguments["depths"]))
    filters, depths, dims = (arguments[name] for name in ("filters", "depths", "hidden_dims"))
    if len(filters) != len(depths) + 1 or len(dims) > len(depths):
        raise InputError(
            "filters needs a number for the stem and one for each stage, hidden_dims at most one for each "
            f"stage; received filters={filters}, depths={depths}, hidden_dims={dims}"
        )
