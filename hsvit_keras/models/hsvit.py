"""HSViT: Horizontally Scalable Vision Transformer, https://arxiv.org/abs/2404.05196.

Each kernel of the last convolution gives one token: its whole feature map, flattened. The tokens
are cut into groups, each group attends within itself under its own weights, and the head reads the
mean of the groups' class tokens. Blocks have no MLP and groups no final norm.

Differs from the authors' program in form only: all groups live in one tensor `(batch, tokens,
groups, dim)` and are computed at once; any rectangular image is taken.
"""

import functools
import math

import keras
from keras import layers

from hsvit_keras.layers import FirstToken, GroupDropout, GroupLayerNormalization, ImageParts, TileTokens
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError

# Table 1: strides of the pooling by image size, so that the map before attention is 8 x 8.
# The number of kernels, 16 groups and dim 64 are in section 4.1, 8 heads in the released files.
VARIANTS = {
    "hsvit_c2a2": ((64, 128), 2, {32: (2, 2), 64: (4, 2), 128: (4, 4)}),
    "hsvit_c3a4": ((64, 128, 256), 4, {32: (2, 1, 2), 64: (2, 2, 2), 128: (4, 2, 2)}),
    "hsvit_c4a8": ((64, 128, 256, 512), 8, {32: (2, 1, 2, 1), 64: (2, 2, 2, 1), 128: (2, 2, 2, 2)}),
}


@keras.saving.register_keras_serializable("hsvit_keras")
class HSViT(ImageModel):
    """Horizontally scalable vision transformer, a Functional graph from images to logits.

    | model        | input       | classes | parameters | MACs    |
    | ------------ | ----------- | ------- | ---------- | ------- |
    | `hsvit_c2a2` | 32 x 32 x 3 | 10      | 812,298    | 100.5 M |
    | `hsvit_c2a2` | 64 x 64 x 3 | 200     | 824,648    | 219.1 M |
    | `hsvit_c3a4` | 32 x 32 x 3 | 10      | 2,242,826  | 341.2 M |
    | `hsvit_c3a4` | 64 x 64 x 3 | 200     | 2,255,176  | 629.7 M |
    | `hsvit_c4a8` | 32 x 32 x 3 | 10      | 6,873,354  | 631.9 M |
    | `hsvit_c4a8` | 64 x 64 x 3 | 200     | 6,885,704  | 920.4 M |
    | `hsvit_tiny` | 32 x 32 x 1 | 10      | 54,522     | 6.4 M   |

    Parameters are the trainable ones; multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the map at the end of each convolutional stage; `class_tokens`, the
    class token of each group `(batch, groups, hidden_dim)`; `pooled`, their normalized mean.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        filters: sequence of int, kernels of each convolutional stage. The last number is the number
            of tokens, which `attention_groups` has to divide.
        kernel_sizes: int or sequence of int, one a stage: size of its first convolution and of its
            pooling window, in pixels. The second convolution is always 3 x 3.
        pool_strides: sequence of int, one a stage, in pixels; a stage with 1 has no pooling.
        attention_groups: int. With 0 there is no attention: the logits come from the mean token.
        depth: int, attention blocks of each group.
        hidden_dim: int, length of a token.
        num_heads: int, heads of each group; divides `hidden_dim`.
        dropout_rate: float in [0, 1), of the embedding and of the attention weights.
        group_dropout_rate: float in [0, 1), probability of dropping a group for an image in training, so
            that accuracy stays high after `slim` has removed groups.
        stem: str. In a `"shared"` stem each convolution sees all maps of the one before. In a `"split"` stem
            each attention group has a column of its own from the image on, as in figure 1 (d): fewer
            multiply-adds, and parts of `shard` repeat nothing.
        image_grid: (rows, columns) of equal parts into which the image is cut for the groups of a `"split"`
            stem, so that a node needs no more than its part of a large image: section 4.5. Group g sees part
            `g * rows * columns // attention_groups`, counted row by row; by default the whole image.
        separable: bool, whether each convolution but the first is a depthwise one, normalization and ReLU,
            and then a 1 x 1 convolution, as in MobileNet: section 4.5.
        use_convolution: bool. Without convolutions each colour channel of the image is a token,
            repeated up to `filters[-1]` tokens; `hidden_dim` has to be height * width.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit, or the image is smaller than the pooling.

    Example:

    ```python
    model = hsvit_keras.create_model("hsvit_c2a2", input_shape=(32, 32, 3), num_classes=10)
    logits = model(np.zeros((1, 32, 32, 3), "float32"))  # (1, 10)
    ```

    References:
        - [HSViT: Horizontally Scalable Vision Transformer](https://arxiv.org/abs/2404.05196)
    """

    def __init__(
        self,
        input_shape=(64, 64, 3),
        num_classes=200,
        filters=(64, 128),
        kernel_sizes=3,
        pool_strides=(4, 2),
        attention_groups=16,
        depth=2,
        hidden_dim=64,
        num_heads=8,
        dropout_rate=0.2,
        use_convolution=True,
        group_dropout_rate=0.0,
        stem="shared",
        image_grid=(1, 1),
        separable=False,
        dtype=None,
        name="hsvit",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_stages(arguments, "filters")
        arguments["kernel_sizes"] = _one_a_stage(arguments["kernel_sizes"], filters)
        _check_arguments(arguments)

        def build_features(image):
            features = {}
            if use_convolution:
                columns = attention_groups if stem == "split" else 1
                maps, image_columns = _seen(image, arguments["image_grid"], attention_groups)
                stages = zip(filters, arguments["kernel_sizes"], pool_strides, strict=True)
                for i, (width, size, stride) in enumerate(stages):
                    for j, kernel_size in enumerate((size, 3)):
                        groups, pointwise = (columns, separable) if i or j else (image_columns, False)
                        maps = _convolution(maps, width, kernel_size, groups, pointwise, f"stage{i}", j)
                    if stride > 1:
                        maps = blocks.max_pooling(maps, size, stride, f"stage{i}_pool")
                    features[f"stage{i}"] = maps
                tokens = _embed_maps(maps, hidden_dim, dropout_rate)
            else:
                tokens = TileTokens(filters[-1], name="tile_tokens")(_maps_as_tokens(image))
            if attention_groups:
                tokens = blocks.with_class_token(_split_groups(tokens, attention_groups))
                project = blocks.group_dense(attention_groups, hidden_dim)
                mixer = blocks.attention("softmax", num_heads, project, project, dropout_rate=dropout_rate)
                for i in range(depth):
                    norm = GroupLayerNormalization(name=f"block{i}_norm")
                    attend = functools.partial(mixer, name=f"block{i}_attention")
                    tokens = blocks.residual(tokens, norm, attend, name=f"block{i}")
                tokens = FirstToken(name="class_tokens")(tokens)
                tokens = layers.Reshape((attention_groups, hidden_dim), name="group_answers")(tokens)
                features["class_tokens"] = tokens
                if group_dropout_rate:
                    tokens = GroupDropout(group_dropout_rate, name="group_dropout")(tokens)
            pooled = layers.GlobalAveragePooling1D(name="mean_answer")(tokens)
            features["pooled"] = layers.LayerNormalization(epsilon=1e-5, name="head_norm")(pooled)
            return features

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _seen(image, grid, groups):
    """What the first convolution sees, and in how many columns: the image, or for each group its part."""
    count = math.prod(grid)
    if count == 1:
        return image, 1
    parts = [group * count // groups for group in range(groups)]
    return ImageParts(grid, parts, name="image_parts")(image), groups


def _convolution(maps, filters, kernel_size, groups, separable, stage, j):
    """The `j`-th convolution of a stage, with symmetric padding, normalization and ReLU."""
    if separable:
        maps = blocks.depthwise_convolution(maps, kernel_size, 1, 1, False, f"{stage}_depthwise{j}")
        maps = _normalized(maps, f"{stage}_depthwise_norm{j}", f"{stage}_depthwise_relu{j}")
        kernel_size = 1
    maps = blocks.convolution(maps, filters, kernel_size, 1, False, f"{stage}_conv{j}", groups)
    return _normalized(maps, f"{stage}_norm{j}", f"{stage}_relu{j}")


def _normalized(maps, norm, relu):
    maps = layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=norm)(maps)
    return layers.ReLU(name=relu)(maps)


def _maps_as_tokens(maps):
    """`(batch, height, width, channels)` to `(batch, channels, height * width)`."""
    _, height, width, channels = maps.shape
    maps = layers.Reshape((height * width, channels), name="flatten_maps")(maps)
    return layers.Permute((2, 1), name="maps_as_tokens")(maps)


def _embed_maps(maps, hidden_dim, dropout_rate):
    """One token a kernel: section 3.2. The projection exists in the authors' program only."""
    tokens = layers.Dense(hidden_dim, name="embedding")(_maps_as_tokens(maps))
    tokens = layers.ReLU(name="embedding_relu")(tokens)
    return layers.Dropout(dropout_rate, name="embedding_dropout")(tokens)


def _split_groups(tokens, groups):
    """`(batch, groups * tokens, dim)` to `(batch, tokens, groups, dim)`; neighbours share a group."""
    _, count, dim = tokens.shape
    tokens = layers.Reshape((groups, count // groups, dim), name="split_groups")(tokens)
    return layers.Permute((2, 1, 3), name="groups_behind_tokens")(tokens)


def _one_a_stage(kernel_sizes, filters):
    return (kernel_sizes,) * len(filters) if isinstance(kernel_sizes, int) else kernel_sizes


def _check_arguments(arguments):
    input_shape, filters = blocks.check_image_shape(arguments["input_shape"]), arguments["filters"]
    kernel_sizes, pool_strides = arguments["kernel_sizes"], arguments["pool_strides"]
    hidden_dim, attention_groups = arguments["hidden_dim"], arguments["attention_groups"]
    blocks.check_integer("num_classes", arguments["num_classes"], 1)
    blocks.check_integer("hidden_dim", hidden_dim, 1)
    blocks.check_integer("attention_groups", attention_groups, 0)
    blocks.check_rate("dropout_rate", arguments["dropout_rate"])
    blocks.check_rate("group_dropout_rate", arguments["group_dropout_rate"])
    blocks.check_stages(arguments, "filters", "kernel_sizes", "pool_strides")
    blocks.check_choice("stem", arguments["stem"], ("shared", "split"))
    if arguments["stem"] == "split":
        _check_columns(arguments)
    _check_image_grid(arguments)
    if arguments["group_dropout_rate"] and not attention_groups:
        raise InputError(
            "without attention there are no groups to drop; received "
            f"group_dropout_rate={arguments['group_dropout_rate']}, attention_groups=0"
        )
    if attention_groups:
        blocks.check_integer("depth", arguments["depth"], 1)
        blocks.check_integer("num_heads", arguments["num_heads"], 1)
        blocks.check_divides("attention_groups", attention_groups, "filters[-1]", filters[-1])
        blocks.check_divides("num_heads", arguments["num_heads"], "hidden_dim", hidden_dim)
    if arguments["separable"] and not arguments["use_convolution"]:
        raise InputError(
            "without convolutions none can be separable; received separable=True, use_convolution=False"
        )
    if arguments["use_convolution"]:
        rows, columns = arguments["image_grid"]
        part = (input_shape[0] // rows, input_shape[1] // columns, input_shape[2])
        _check_pooling(part, kernel_sizes, pool_strides)
    elif hidden_dim != input_shape[0] * input_shape[1]:
        raise InputError(
            "without convolution a token is a whole image plane, so hidden_dim has to be height * width = "
            f"{input_shape[0] * input_shape[1]}; received hidden_dim={hidden_dim}, input_shape={input_shape}"
        )


def _check_columns(arguments):
    attention_groups, filters = arguments["attention_groups"], arguments["filters"]
    if not attention_groups or not arguments["use_convolution"]:
        raise InputError(
            "stem='split' needs attention groups and convolutions to split; received "
            f"attention_groups={attention_groups}, use_convolution={arguments['use_convolution']}"
        )
    for i, count in enumerate(filters):
        blocks.check_divides("attention_groups", attention_groups, f"filters[{i}]", count)


def _check_image_grid(arguments):
    grid, input_shape = arguments["image_grid"], arguments["input_shape"]
    if not isinstance(grid, tuple) or len(grid) != 2:
        raise InputError(f"image_grid has to be (rows, columns); received image_grid={grid!r}")
    for i, (count, side) in enumerate(zip(grid, input_shape[:2], strict=True)):
        blocks.check_integer(f"image_grid[{i}]", count, 1)
        blocks.check_divides(f"image_grid[{i}]", count, f"input_shape[{i}]", side)
    if math.prod(grid) > 1:
        if arguments["stem"] != "split":
            raise InputError(
                f"only columns of a split stem can see parts of an image; received image_grid={grid}, "
                f"stem={arguments['stem']!r}"
            )
        count, groups = math.prod(grid), arguments["attention_groups"]
        blocks.check_divides("the number of parts of image_grid", count, "attention_groups", groups)


def _check_pooling(input_shape, kernel_sizes, pool_strides):
    """Raises `InputError` if a pooled map would have no pixel, by the authors' count of side // stride."""
    sides = input_shape[:2]
    for i, (size, stride) in enumerate(zip(kernel_sizes, pool_strides, strict=True)):
        sides = [side + 1 - size % 2 for side in sides]
        if min(sides) < stride:
            raise InputError(
                f"the image is too small: stage {i} pools with stride {stride} and gets a map of "
                f"{sides[0]} x {sides[1]}; received input_shape={input_shape}, pool_strides={pool_strides}"
            )
        if stride > 1:
            sides = [(side + size // 2 * 2 - size) // stride + 1 for side in sides]


def _arguments(filters, depth, pool_strides):
    """A variant's arguments by input shape: those of Table 1 for its size or the next smaller one."""

    def arguments(input_shape):
        side = min(blocks.check_image_shape(input_shape)[:2])
        column = max((size for size in pool_strides if size <= side), default=min(pool_strides))
        return {"filters": filters, "depth": depth, "pool_strides": pool_strides[column]}

    return arguments


for _name, _variant in VARIANTS.items():
    # 64 x 64 and 200 classes (Tiny-ImageNet) is where Table 3 counts the parameters.
    register_model(_name, HSViT, input_shape=(64, 64, 3), num_classes=200, arguments=_arguments(*_variant))


def _tiny(input_shape):
    """Ours, for demonstrations and tests: trains in a minute on two cores."""
    return {
        "filters": (16, 32), "pool_strides": (2, 2), "attention_groups": 4, "hidden_dim": 32, "num_heads": 4,
    }  # fmt: skip


register_model("hsvit_tiny", HSViT, input_shape=(32, 32, 1), num_classes=10, arguments=_tiny)
