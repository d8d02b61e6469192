"""HVT: Scalable Vision Transformers with Hierarchical Pooling, https://arxiv.org/abs/2103.10619.

A vision transformer whose sequence is halved by max pooling behind some blocks, each time with new position
embeddings. There is no class token: the head reads the mean of the last tokens.

The authors' program has one-dimensional max pooling alone. Average pooling and convolution (Table 3), pooling
of the map of tokens (Table 9) and the model without pooling (Table 4) are written from the paper. A map is
padded when it is pooled (28 - 14 - 7), which is what fits the number of parameters in Table 9.
"""

import keras
from keras import layers

from hsvit_keras.layers import PositionEmbedding
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError

# Heads of dim 64, poolings, classes, and what else differs from 12 blocks and patches of 16 at 224 x 224.
VARIANTS = {
    # Tables 1, 2 and 4: trained on ImageNet; Table 4 on CIFAR-100, too
    "hvt_ti_0": (3, 0, 1000, {}),
    "hvt_ti_1": (3, 1, 1000, {}),
    "hvt_scale_ti_4": (6, 4, 1000, {}),
    "hvt_s_0": (6, 0, 1000, {}),
    "hvt_s_1": (6, 1, 1000, {}),
    "hvt_s_2": (6, 2, 1000, {}),
    "hvt_s_3": (6, 3, 1000, {}),
    "hvt_s_4": (6, 4, 1000, {}),  # Table 7 gives it other images
    # Table 3: what reduces the sequence, on CIFAR-100 as all that follow
    "hvt_s_4_average": (6, 4, 100, {"pooling": "average"}),
    "hvt_s_4_convolution": (6, 4, 100, {"pooling": "convolution"}),
    # Table 5: blocks
    "hvt_s_4_d16": (6, 4, 100, {"depth": 16}),
    "hvt_s_4_d20": (6, 4, 100, {"depth": 20}),
    "hvt_s_4_d24": (6, 4, 100, {"depth": 24}),
    # Table 6: heads; with 6 it is hvt_scale_ti_4
    "hvt_ti_4": (3, 4, 100, {}),
    "hvt_ti_4_h12": (12, 4, 100, {}),
    "hvt_ti_4_h16": (16, 4, 100, {}),
    # Table 8: patches
    "hvt_s_4_p8": (6, 4, 100, {"patch_size": 8}),
    "hvt_s_4_p32": (6, 4, 100, {"patch_size": 32}),
    # Table 9: pooling of the map
    "hvt_s_2_2d": (6, 2, 100, {"patch_size": 8, "pooling_axes": 2}),
}
HEAD_DIM = 64
_POOLING = {
    "max": (layers.MaxPooling1D, layers.MaxPooling2D),
    "average": (layers.AveragePooling1D, layers.AveragePooling2D),
    "convolution": (layers.Conv1D, layers.Conv2D),
}


@keras.saving.register_keras_serializable("hsvit_keras")
class HVT(ImageModel):
    """Hierarchical visual transformer, a Functional graph from images to logits.

    | model                 | classes | parameters  | MACs      |
    | --------------------- | ------- | ----------- | --------- |
    | `hvt_ti_0`            | 1000    | 5,717,032   | 1,246.6 M |
    | `hvt_ti_1`            | 1000    | 5,735,656   | 642.3 M   |
    | `hvt_ti_4`            | 100     | 5,577,700   | 377.3 M   |
    | `hvt_ti_4_h12`        | 100     | 86,011,492  | 5,341.7 M |
    | `hvt_ti_4_h16`        | 100     | 152,430,692 | 9,393.5 M |
    | `hvt_scale_ti_4`      | 1000    | 22,118,632  | 1,393.6 M |
    | `hvt_s_0`             | 1000    | 22,049,896  | 4,574.0 M |
    | `hvt_s_1`             | 1000    | 22,087,144  | 2,402.0 M |
    | `hvt_s_2`             | 1000    | 22,105,576  | 1,941.2 M |
    | `hvt_s_3`             | 1000    | 22,114,408  | 1,620.1 M |
    | `hvt_s_4`             | 1000    | 22,118,632  | 1,393.6 M |
    | `hvt_s_4_average`     | 100     | 21,772,132  | 1,393.3 M |
    | `hvt_s_4_convolution` | 100     | 23,543,140  | 1,472.5 M |
    | `hvt_s_4_d16`         | 100     | 28,869,988  | 1,719.5 M |
    | `hvt_s_4_d20`         | 100     | 35,967,844  | 2,045.8 M |
    | `hvt_s_4_d24`         | 100     | 43,065,700  | 2,372.0 M |
    | `hvt_s_4_p8`          | 100     | 21,988,708  | 6,177.7 M |
    | `hvt_s_4_p32`         | 100     | 22,547,812  | 367.5 M   |
    | `hvt_s_2_2d`          | 100     | 21,802,084  | 4,617.8 M |

    Trainable parameters for images of 224 x 224 x 3; multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the tokens in front of each pooling and those of the last block, as
    a map `(batch, height, width, dim)`; behind a pooling of the sequence, where tokens have no grid any more,
    as a sequence `(batch, tokens, dim)`. `pooled`, the mean of the normalized tokens.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        patch_size: int, side of a patch in pixels; divides height and width.
        hidden_dim: int, length of a token.
        depth: int, blocks.
        num_heads: int; divides `hidden_dim`.
        mlp_dim: int, hidden width of the feed-forward.
        pool_every: int. There is a pooling behind the first block, and behind each block that is
            `pool_every` blocks after one with a pooling; 0 for no pooling at all.
        pooling: str, `"max"`, `"average"` or `"convolution"`.
        pooling_axes: int, 1 to pool the sequence of tokens (row by row) without padding, 2 to pool their
            map with padding.
        pool_size: int, window of the pooling in tokens.
        pool_stride: int, stride of the pooling in tokens.
        qkv_bias: bool, whether queries, keys and values have a bias.
        layer_norm_epsilon: float, added to the variance in each layer normalization.
        dropout_rate: float in [0, 1), of the feed-forward.
        stochastic_depth_rate: float in [0, 1), the chance that a branch of the last block is left out of an
            image in training; that of the others grows from 0 with their depth.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit, or a pooling has fewer tokens than its window.

    Example:

    ```python
    model = hsvit_keras.create_model("hvt_s_1", num_classes=100)
    logits = model(np.zeros((1, 224, 224, 3), "float32"))  # (1, 100)
    ```

    References:
        - [HVT](https://arxiv.org/abs/2103.10619)
    """

    def __init__(
        self,
        input_shape=(224, 224, 3),
        num_classes=1000,
        patch_size=16,
        hidden_dim=192,
        depth=12,
        num_heads=3,
        mlp_dim=768,
        pool_every=12,
        pooling="max",
        pooling_axes=1,
        pool_size=3,
        pool_stride=2,
        qkv_bias=True,
        layer_norm_epsilon=1e-6,
        dropout_rate=0.0,
        stochastic_depth_rate=0.0,
        dtype=None,
        name="hvt",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        _check_arguments(arguments)

        def build_features(image):
            tokens, maps = blocks.patch_embedding(image, patch_size, hidden_dim)
            tokens = PositionEmbedding(name="position_embedding")(tokens)
            grid, norm, features = maps.shape[1:3], blocks.layer_norm(layer_norm_epsilon), {}
            mixer = blocks.attention(
                "softmax", num_heads, blocks.dense(hidden_dim, qkv_bias), blocks.dense(hidden_dim)
            )
            for i, rate in enumerate(blocks.drop_rates(stochastic_depth_rate, depth)):
                tokens = blocks.transformer_block(
                    tokens, norm, mixer, mlp_dim, dropout_rate, f"block{i}", drop_rate=rate
                )
                if pool_every and i % pool_every == 0:
                    _add_stage(features, tokens, grid)
                    name = f"block{i}_pool"
                    if pooling_axes == 1:
                        tokens, grid = _pool(tokens, pooling, pool_size, pool_stride, name), None
                    else:
                        maps = blocks.as_maps(tokens, grid, f"{name}_maps")
                        maps = _pool(maps, pooling, pool_size, pool_stride, name)
                        tokens, grid = blocks.flatten(maps, f"{name}_tokens"), maps.shape[1:3]
                    tokens = PositionEmbedding(name=f"block{i}_position_embedding")(tokens)
            _add_stage(features, tokens, grid)
            features["pooled"] = layers.GlobalAveragePooling1D(name="mean_token")(norm("head_norm")(tokens))
            return features

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _add_stage(features, tokens, grid):
    """Adds the output of a stage, as a map where the tokens have a grid."""
    name = f"stage{len(features)}"
    features[name] = blocks.as_maps(tokens, grid, f"{name}_maps") if grid else tokens


def _pool(inputs, pooling, size, stride, name):
    """Pools tokens `(batch, tokens, dim)` without padding, or maps with padding."""
    axes = len(inputs.shape) - 2
    layer = _POOLING[pooling][axes - 1]
    filters = inputs.shape[-1:] if pooling == "convolution" else ()
    return layer(*filters, size, stride, "valid" if axes == 1 else "same", name=name)(inputs)


def _check_arguments(arguments):
    shape = blocks.check_image_shape(arguments["input_shape"], arguments["patch_size"])
    blocks.check_positive(
        arguments, "num_classes", "hidden_dim", "depth", "num_heads", "mlp_dim", "pool_size", "pool_stride"
    )
    blocks.check_integer("pool_every", arguments["pool_every"], 0)
    blocks.check_choice("pooling", arguments["pooling"], tuple(_POOLING))
    blocks.check_choice("pooling_axes", arguments["pooling_axes"], (1, 2))
    blocks.check_divides("num_heads", arguments["num_heads"], "hidden_dim", arguments["hidden_dim"])
    blocks.check_rate("dropout_rate", arguments["dropout_rate"])
    blocks.check_rate("stochastic_depth_rate", arguments["stochastic_depth_rate"])
    if arguments["pool_every"] and arguments["pooling_axes"] == 1:
        _check_lengths(arguments, shape[0] * shape[1] // arguments["patch_size"] ** 2)


def _check_lengths(arguments, tokens):
    """Raises `InputError` if the sequence is shorter than the window of a pooling."""
    size, stride = arguments["pool_size"], arguments["pool_stride"]
    for i in range(0, arguments["depth"], arguments["pool_every"]):
        if tokens < size:
            raise InputError(
                f"the image has too few patches: the pooling behind block {i} has a window of {size} tokens "
                f"and gets {tokens}; received input_shape={arguments['input_shape']}, "
                f"patch_size={arguments['patch_size']}, pool_every={arguments['pool_every']}"
            )
        tokens = (tokens - size) // stride + 1


def _register(name, num_heads, poolings, num_classes, others):
    arguments = {
        "hidden_dim": HEAD_DIM * num_heads, "num_heads": num_heads, "mlp_dim": 4 * HEAD_DIM * num_heads,
        "pool_every": others.get("depth", 12) // poolings if poolings else 0, **others,
    }  # fmt: skip
    register_model(name, HVT, input_shape=(224, 224, 3), num_classes=num_classes, arguments=arguments)


for _name, _variant in VARIANTS.items():
    _register(_name, *_variant)
