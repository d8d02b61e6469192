"""MobileViT: Light-weight, General-purpose, and Mobile-friendly Vision Transformer, https://arxiv.org/abs/2110.02178.

Inverted residuals of MobileNetV2, and in the last three stages a block in which transformer blocks see the
whole map: a convolution, attention over the pixels at the same place of all patches of 2 x 2, and a
convolution over what went in and what came out.

Equals the authors' program, ml-cvnets, and the class of transformers that HSViT compares with. ml-cvnets
normalizes over another axis where a map has as many patches as features, which is not copied.
"""

import keras
from keras import layers

from hsvit_keras.layers import FoldPatches, UnfoldPatches
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.mobilevit_stages import PATCH_SIZE, check_stages, convolution, stages
from hsvit_keras.models.registry import register_model

# Filters of the stem, of each stage and of the last convolution; dim of each transformer: Table 4.
VARIANTS = {
    "mobilevit_xs": ((16, 32, 48, 64, 80, 96), 384, (96, 120, 144)),
    "mobilevit_s": ((16, 32, 64, 96, 128, 160), 640, (144, 192, 240)),
}


@keras.saving.register_keras_serializable("hsvit_keras")
class MobileViT(ImageModel):
    """Convolutions and transformers in turn, a Functional graph from images to logits.

    | model          | input       | classes | parameters | MACs     |
    | -------------- | ----------- | ------- | ---------- | -------- |
    | `mobilevit_xs` | 64 x 64 x 3 | 200     | 2,009,848  | 57.3 M   |
    | `mobilevit_s`  | 64 x 64 x 3 | 200     | 5,065,832  | 114.7 M  |

    Trainable parameters; multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the map at the end of each stage; `pooled`, the mean of the last
    convolution's map.

    Args:
        input_shape: (height, width, channels) in pixels. A map of odd size is resized around its transformer.
        num_classes: int, number of logits.
        filters: sequence of int, of the stem and of each stage.
        last_filters: int, of the convolution in front of the head.
        depths: sequence of int, one a stage: inverted residuals, in the last stages transformer blocks.
        expand_ratios: sequence of float, one a stage, hidden filters of an inverted residual over those of
            its input, rounded to a multiple of 8.
        hidden_dims: sequence of int, length of a token, one for each of the last stages, which have a
            transformer behind one inverted residual. The first stages have none.
        mlp_dims: sequence of int, hidden width of the feed-forward, one for each of them.
        num_heads: int; divides `hidden_dims`.
        qkv_bias: bool, whether queries, keys and values have a bias.
        layer_norm_epsilon: float, added to the variance in each layer normalization.
        dropout_rate: float in [0, 1), of the feed-forward.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    Example:

    ```python
    model = hsvit_keras.create_model("mobilevit_xs", num_classes=10)
    logits = model(np.zeros((1, 64, 64, 3), "float32"))  # (1, 10)
    ```

    References:
        - [MobileViT](https://arxiv.org/abs/2110.02178), section 3 and Table 4
        - [HSViT](https://arxiv.org/abs/2404.05196), Table 3
    """

    def __init__(
        self,
        input_shape=(64, 64, 3),
        num_classes=200,
        filters=(16, 32, 64, 96, 128, 160),
        last_filters=640,
        depths=(1, 3, 2, 4, 3),
        expand_ratios=(4, 4, 4, 4, 4),
        hidden_dims=(144, 192, 240),
        mlp_dims=(288, 384, 480),
        num_heads=4,
        qkv_bias=True,
        layer_norm_epsilon=1e-5,
        dropout_rate=0.0,
        dtype=None,
        name="mobilevit",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        _check_arguments(arguments)
        norm = blocks.layer_norm(layer_norm_epsilon)

        def transform(maps, dim, mlp_dim, depth, name):
            """The transformer of a stage, on maps of `dim` channels."""
            grid = maps.shape[1:3]
            even = tuple(side + side % PATCH_SIZE for side in grid)
            tokens = UnfoldPatches(PATCH_SIZE, name=f"{name}_unfold")(_resized(maps, even, f"{name}_enlarge"))
            mixer = blocks.attention("softmax", num_heads, blocks.dense(dim, qkv_bias), blocks.dense(dim))
            for i in range(depth):
                tokens = blocks.transformer_block(
                    tokens, norm, mixer, mlp_dim, dropout_rate, f"{name}_block{i}", activation="silu"
                )
            maps = FoldPatches(even, PATCH_SIZE, name=f"{name}_fold")(norm(f"{name}_norm")(tokens))
            return _resized(maps, grid, f"{name}_reduce")

        def block(maps, dim, mlp_dim, depth, name):
            width = maps.shape[-1]
            local = convolution(maps, width, 3, 1, f"{name}_local_conv")
            local = blocks.convolution(local, dim, 1, 1, False, f"{name}_input_conv")
            seen = transform(local, dim, mlp_dim, depth, name)
            seen = convolution(seen, width, 1, 1, f"{name}_output_conv")
            both = layers.Concatenate(name=f"{name}_join")([maps, seen])
            return convolution(both, width, 3, 1, f"{name}_fusion_conv")

        def build_features(image):
            features = stages(image, filters, depths, expand_ratios, hidden_dims, mlp_dims, block)
            maps = convolution(features[f"stage{len(depths) - 1}"], last_filters, 1, 1, "last_conv")
            return {**features, "pooled": layers.GlobalAveragePooling2D(name="mean_map")(maps)}

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _resized(maps, grid, name):
    return maps if maps.shape[1:3] == grid else layers.Resizing(*grid, name=name)(maps)


def _check_arguments(arguments):
    blocks.check_image_shape(arguments["input_shape"])
    blocks.check_positive(arguments, "num_classes", "last_filters", "num_heads")
    check_stages(arguments)
    for dim in arguments["hidden_dims"]:
        blocks.check_divides("num_heads", arguments["num_heads"], "each number of hidden_dims", dim)
    blocks.check_rate("dropout_rate", arguments["dropout_rate"])


for _name, (_filters, _last_filters, _hidden_dims) in VARIANTS.items():
    register_model(
        _name,
        MobileViT,
        input_shape=(64, 64, 3),
        num_classes=200,
        arguments={
            "filters": _filters, "last_filters": _last_filters, "hidden_dims": _hidden_dims,
            "mlp_dims": tuple(2 * dim for dim in _hidden_dims),
        },
    )  # fmt: skip
