"""SwiftFormer: Efficient Additive Attention for Mobile Vision Applications, https://arxiv.org/abs/2303.15446.

Four stages of depthwise convolutions, each with additive attention in its last block: the queries of all
tokens become one, which multiplies each key.

The registered forms are those that HSViT compares with, the class of transformers: there the weights of the
queries are a softmax over one element and thus 1. `weighted_queries=True` is the authors' program. The mean
of both heads is the only output, in training as well.
"""

import keras
from keras import layers

from hsvit_keras.layers import AdditiveAttention
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model

# Filters and blocks of each stage, as in the authors' program.
VARIANTS = {
    "swiftformer_xs": ((48, 56, 112, 220), (3, 3, 6, 4)),
    "swiftformer_s": ((48, 64, 168, 224), (3, 3, 9, 6)),
}


@keras.saving.register_keras_serializable("hsvit_keras")
class SwiftFormer(ImageModel):
    """Convolutions and additive attention, a Functional graph from images to logits.

    | model            | input       | classes | parameters | MACs    |
    | ---------------- | ----------- | ------- | ---------- | ------- |
    | `swiftformer_xs` | 64 x 64 x 3 | 200     | 3,121,760  | 49.2 M  |
    | `swiftformer_s`  | 64 x 64 x 3 | 200     | 5,732,128  | 80.4 M  |

    Trainable parameters, of which 436 and 504 are the scores of queries, which have no influence here;
    multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the map at the end of each stage; `pooled`, the mean of the normalized
    last map.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        filters: sequence of int, one a stage, channels of its map.
        depths: sequence of int, one a stage, blocks; the last one has attention.
        mlp_ratio: float, hidden width of a feed-forward over the channels.
        weighted_queries: bool, whether queries count by a learned score, as in the authors' program.
        distilled: bool, whether there is a second head, for distillation.
        layer_scale: float, initial factor of attention and of the feed-forward behind it; None for no factor.
        stochastic_depth_rate: float in [0, 1), the chance that a branch of the last block is left out of an
            image in training; that of the others grows from 0 with their depth. The convolutions in front of
            attention are always there.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    References:
        - [SwiftFormer](https://arxiv.org/abs/2303.15446), section 3
        - [HSViT](https://arxiv.org/abs/2404.05196), Table 3
    """

    def __init__(
        self,
        input_shape=(64, 64, 3),
        num_classes=200,
        filters=(48, 56, 112, 220),
        depths=(3, 3, 6, 4),
        mlp_ratio=4,
        weighted_queries=False,
        distilled=True,
        layer_scale=1e-5,
        stochastic_depth_rate=0.0,
        dtype=None,
        name="swiftformer",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_image_shape(input_shape)
        blocks.check_positive(arguments, "num_classes")
        blocks.check_stages(arguments, "filters", "depths")
        blocks.check_numbers("mlp_ratio", (mlp_ratio,), 1)
        blocks.check_rate("stochastic_depth_rate", stochastic_depth_rate)

        def build_features(image):
            maps, features = blocks.two_convolutions(image, filters[0]), {}
            rates = iter(blocks.drop_rates(stochastic_depth_rate, sum(depths)))
            for i, (width, depth) in enumerate(zip(filters, depths, strict=True)):
                if i:
                    maps = blocks.downsampling(maps, width, f"stage{i}_conv")
                hidden = int(mlp_ratio * width)
                for j in range(depth - 1):
                    maps = _convolution_block(maps, hidden, f"stage{i}_block{j}", next(rates))
                last, rate = f"stage{i}_block{depth - 1}", next(rates)
                maps = _convolution_block(maps, width, f"{last}_local")
                mixed = _attention(maps, weighted_queries, f"{last}_attention")
                maps = blocks.scaled_residual(maps, mixed, layer_scale, f"{last}_attention", rate)
                fed = _feed_forward(maps, hidden, f"{last}_mlp")
                maps = blocks.scaled_residual(maps, fed, layer_scale, f"{last}_mlp", rate)
                features[f"stage{i}"] = maps
            maps = blocks.normalized(maps, "head")
            return {**features, "pooled": layers.GlobalAveragePooling2D(name="mean_map")(maps)}

        head = blocks.classifier(num_classes, two_heads=distilled)
        super().__init__(build_features, head, arguments, **kwargs)


def _convolution_block(maps, hidden, name, drop_rate=0.0):
    """A depthwise convolution and two of size 1, added to the maps."""
    inner = blocks.depthwise_convolution(maps, 3, 1, 1, True, f"{name}_depthwise")
    inner = _two_dense(blocks.normalized(inner, f"{name}_depthwise"), hidden, name)
    return blocks.scaled_residual(maps, inner, 1.0, name, drop_rate)


def _feed_forward(maps, hidden, name):
    return _two_dense(blocks.normalized(maps, name), hidden, name)


def _two_dense(maps, hidden, name):
    inner = blocks.convolution(maps, hidden, 1, 1, True, f"{name}_hidden")
    inner = layers.Activation("gelu", name=f"{name}_gelu")(inner)
    return blocks.convolution(inner, maps.shape[-1], 1, 1, True, f"{name}_output")


def _attention(maps, weighted, name):
    """Additive attention: section 3.2 of the paper. float16 has no room for what squares add up to."""
    width = maps.shape[-1]
    query, key = (
        layers.UnitNormalization(dtype="float32", name=f"{name}_{part}_norm")(
            layers.Dense(width, name=f"{name}_{part}")(maps)
        )
        for part in ("query", "key")
    )
    mixed = AdditiveAttention(weighted, name=name)(query, key)
    mixed = layers.Dense(width, name=f"{name}_project")(mixed)
    both = layers.Add(name=f"{name}_join")([mixed, query])
    return layers.Dense(width, name=f"{name}_output")(both)


for _name, (_filters, _depths) in VARIANTS.items():
    register_model(
        _name,
        SwiftFormer,
        input_shape=(64, 64, 3),
        num_classes=200,
        arguments={"filters": _filters, "depths": _depths},
    )
