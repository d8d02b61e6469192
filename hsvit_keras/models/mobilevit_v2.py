"""MobileViTv2: Separable Self-attention for Mobile Vision Transformers, https://arxiv.org/abs/2206.02680.

The stages of MobileViT with a simpler block in the last three: a depthwise convolution, transformer blocks
over the pixels at the same place of all patches of 2 x 2, and a convolution without activation; no shortcut
around them. Attention gives each patch one score, so its cost is linear in the patches; a normalization in a
transformer is over the whole map. Nothing is between the last stage and the mean for the head.

Equals the class of transformers. In a map of odd size the last row or column does not go through the
transformer: zeros stand in its place behind it.
"""

import keras
from keras import layers

from hsvit_keras.layers import FoldPatches, SeparableAttention, UnfoldPatches
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.mobilevit_stages import PATCH_SIZE, check_stages, convolution, stages
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError

BASE_DIMS = (128, 192, 256)  # of the transformers at width 1
# Widths, over that of the paper's form of 4.9 million parameters.
VARIANTS = {
    "mobilevitv2_050": 0.5,
    "mobilevitv2_075": 0.75,
    "mobilevitv2_100": 1.0,
    "mobilevitv2_150": 1.5,
    "mobilevitv2_200": 2.0,
}


@keras.saving.register_keras_serializable("hsvit_keras")
class MobileViTV2(ImageModel):
    """Convolutions and transformers of linear cost in turn, a Functional graph from images to logits.

    | model             | input       | classes | parameters | MACs     |
    | ----------------- | ----------- | ------- | ---------- | -------- |
    | `mobilevitv2_050` | 64 x 64 x 3 | 200     | 1,164,993  | 29.1 M   |
    | `mobilevitv2_075` | 64 x 64 x 3 | 200     | 2,558,009  | 64.3 M   |
    | `mobilevitv2_100` | 64 x 64 x 3 | 200     | 4,491,441  | 113.3 M  |
    | `mobilevitv2_150` | 64 x 64 x 3 | 200     | 9,979,553  | 252.8 M  |
    | `mobilevitv2_200` | 64 x 64 x 3 | 200     | 17,629,329 | 447.4 M  |

    Trainable parameters; multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the map at the end of each stage; `pooled`, the mean of the last one.

    Args:
        input_shape: (height, width, channels) in pixels; with five stages sides of 33 or more, which leave a
            patch in the last map.
        num_classes: int, number of logits.
        filters: sequence of int, of the stem and of each stage.
        depths: sequence of int, one a stage: inverted residuals, in the last stages transformer blocks.
        expand_ratios: sequence of float, one a stage, hidden filters of an inverted residual over those of
            its input, rounded to a multiple of 8.
        hidden_dims: sequence of int, length of a token, one for each of the last stages, which have a
            transformer behind one inverted residual. The first stages have none.
        mlp_dims: sequence of int, hidden width of the feed-forward, one for each of them.
        layer_norm_epsilon: float, added to the variance in each normalization of a transformer.
        dropout_rate: float in [0, 1), of the feed-forward.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    Example:

    ```python
    model = hsvit_keras.create_model("mobilevitv2_050", num_classes=10)
    logits = model(np.zeros((1, 64, 64, 3), "float32"))  # (1, 10)
    ```

    References:
        - [MobileViTv2](https://arxiv.org/abs/2206.02680), section 3
    """

    def __init__(
        self,
        input_shape=(64, 64, 3),
        num_classes=200,
        filters=(32, 64, 128, 256, 384, 512),
        depths=(1, 2, 2, 4, 3),
        expand_ratios=(2, 2, 2, 2, 2),
        hidden_dims=(128, 192, 256),
        mlp_dims=(256, 384, 512),
        layer_norm_epsilon=1e-5,
        dropout_rate=0.0,
        dtype=None,
        name="mobilevitv2",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_image_shape(arguments["input_shape"])
        blocks.check_positive(arguments, "num_classes")
        check_stages(arguments)
        blocks.check_epsilon("layer_norm_epsilon", layer_norm_epsilon)
        blocks.check_rate("dropout_rate", dropout_rate)

        def norm(name):
            return layers.GroupNormalization(1, epsilon=layer_norm_epsilon, name=name)

        def block(maps, dim, mlp_dim, depth, name):
            rest = tuple((0, side % PATCH_SIZE) for side in maps.shape[1:3])
            local = blocks.depthwise_convolution(maps, 3, 1, 1, False, f"{name}_local_conv")
            local = blocks.normalized(local, f"{name}_local_conv", "silu")
            local = blocks.convolution(local, dim, 1, 1, False, f"{name}_input_conv")
            whole = _without(local, rest, f"{name}_crop")
            tokens = UnfoldPatches(PATCH_SIZE, name=f"{name}_unfold")(whole)
            for i in range(depth):
                tokens = blocks.transformer_block(
                    tokens, norm, _attention, mlp_dim, dropout_rate, f"{name}_block{i}", activation="silu"
                )
            tokens = norm(f"{name}_norm")(tokens)
            seen = FoldPatches(whole.shape[1:3], PATCH_SIZE, name=f"{name}_fold")(tokens)
            if any(map(any, rest)):
                seen = layers.ZeroPadding2D(rest, name=f"{name}_pad")(seen)
            return convolution(seen, maps.shape[-1], 1, 1, f"{name}_output_conv", activation=None)

        def build_features(image):
            features = stages(image, filters, depths, expand_ratios, hidden_dims, mlp_dims, block)
            last = features[f"stage{len(depths) - 1}"]
            return {**features, "pooled": layers.GlobalAveragePooling2D(name="mean_map")(last)}

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _attention(tokens, name):
    """Separable attention: section 3.2 of the paper."""
    dim = tokens.shape[-1]
    query, key, value = (
        layers.Dense(units, name=f"{name}_{part}")(tokens)
        for part, units in (("query", 1), ("key", dim), ("value", dim))
    )
    value = layers.Activation("relu", name=f"{name}_value_relu")(value)
    return layers.Dense(dim, name=f"{name}_output")(SeparableAttention(name=name)(query, key, value))


def _without(maps, rest, name):
    """The maps without the rows and columns at their end that make no whole patch."""
    if not any(map(any, rest)):
        return maps
    if 1 in maps.shape[1:3]:
        raise InputError(
            f"the image is too small: {name} gets a map of {maps.shape[1]} x {maps.shape[2]}, "
            f"in which there is no patch of {PATCH_SIZE} x {PATCH_SIZE}"
        )
    return layers.Cropping2D(rest, name=name)(maps)


def scaled_widths(multiplier, base_dims=BASE_DIMS, mlp_ratio=2):
    """The arguments of `MobileViTV2` that grow with its width.

    Args:
        multiplier: float, the width over that of the paper's form.
        base_dims: sequence of int, `hidden_dims` at width 1.
        mlp_ratio: float, hidden width of a feed-forward over that of its tokens, in steps of 16.

    Returns:
        dict with `filters`, `hidden_dims` and `mlp_dims`.
    """
    stem = blocks.rounded_width(min(max(32 * multiplier, 16), 64), minimum=16)
    first = blocks.rounded_width(64 * multiplier, 16)
    others = (blocks.rounded_width(width * multiplier) for width in (128, 256, 384, 512))
    dims = tuple(blocks.rounded_width(dim * multiplier) for dim in base_dims)
    return {
        "filters": (stem, first, *others),
        "hidden_dims": dims,
        "mlp_dims": tuple(int(mlp_ratio * dim // 16 * 16) for dim in dims),
    }


for _name, _multiplier in VARIANTS.items():
    register_model(
        _name,
        MobileViTV2,
        input_shape=(64, 64, 3),
        num_classes=200,
        arguments=scaled_widths(_multiplier),
    )
