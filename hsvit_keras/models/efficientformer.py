"""EfficientFormer: Vision Transformers at MobileNet Speed, https://arxiv.org/abs/2206.01191.

Four stages whose blocks mix pixels by average pooling; the last blocks of the last stage are transformer
blocks with a learned bias of each offset on the map.

The registered forms are those that HSViT compares with, the class of transformers, whose layer normalization
has another epsilon (1e-5 in the authors' program). The mean of both heads is the only output, in training as
well. The map in front of attention may be rectangular.
"""

import keras
from keras import layers

from hsvit_keras.layers import GridAttention
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError

# Filters and blocks of each stage, and how many of the last are transformers, as in the authors' program.
VARIANTS = {
    "efficientformer_l1": ((48, 96, 224, 448), (3, 2, 6, 4), 1),
    "efficientformer_l3": ((64, 128, 320, 512), (4, 4, 12, 6), 4),
}


@keras.saving.register_keras_serializable("hsvit_keras")
class EfficientFormer(ImageModel):
    """Pooling blocks and a few transformer blocks, a Functional graph from images to logits.

    | model                | input       | classes | parameters | MACs    |
    | -------------------- | ----------- | ------- | ---------- | ------- |
    | `efficientformer_l1` | 64 x 64 x 3 | 200     | 11,571,168 | 105.3 M |
    | `efficientformer_l3` | 64 x 64 x 3 | 200     | 30,583,760 | 318.1 M |

    Trainable parameters; multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the map at the end of each stage; `pooled`, the mean of the normalized
    tokens.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        filters: sequence of int, one a stage, channels of its map.
        depths: sequence of int, one a stage, blocks.
        transformer_depth: int, how many blocks of the last stage are transformer blocks.
        num_heads: int.
        key_dim: int, length of a head's queries and keys.
        value_ratio: float, length of a head's values over `key_dim`.
        mlp_ratio: float, hidden width of a feed-forward over the channels.
        pool_size: int, odd, side of the pooling's window.
        distilled: bool, whether there is a second head, for distillation.
        layer_scale: float, initial factor of each branch; None for no factor.
        layer_norm_epsilon: float, added to the variance in each layer normalization.
        stochastic_depth_rate: float in [0, 1), the chance that a branch of the last block is left out of an
            image in training; that of the others grows from 0 with their depth.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    References:
        - [EfficientFormer](https://arxiv.org/abs/2206.01191), section 4
        - [HSViT](https://arxiv.org/abs/2404.05196), Table 3
    """

    def __init__(
        self,
        input_shape=(64, 64, 3),
        num_classes=200,
        filters=(48, 96, 224, 448),
        depths=(3, 2, 6, 4),
        transformer_depth=1,
        num_heads=8,
        key_dim=32,
        value_ratio=4,
        mlp_ratio=4,
        pool_size=3,
        distilled=True,
        layer_scale=1e-5,
        layer_norm_epsilon=1e-12,
        stochastic_depth_rate=0.0,
        dtype=None,
        name="efficientformer",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        _check_arguments(arguments)
        norm = blocks.layer_norm(layer_norm_epsilon)
        mlp_dim, value_dim = int(mlp_ratio * filters[-1]), int(value_ratio * key_dim)

        def attend(tokens, grid, name):
            query, key = (
                layers.Dense(num_heads * key_dim, name=f"{name}_{part}")(tokens) for part in ("query", "key")
            )
            value = layers.Dense(num_heads * value_dim, name=f"{name}_value")(tokens)
            mixed = GridAttention(num_heads, grid, name=name)(query, key, value)
            return layers.Dense(tokens.shape[-1], name=f"{name}_output")(mixed)

        def transformer_block(tokens, grid, drop_rate, name):
            mixed = attend(norm(f"{name}_norm")(tokens), grid, f"{name}_attention")
            tokens = blocks.scaled_residual(tokens, mixed, layer_scale, f"{name}_attention", drop_rate)
            hidden = layers.Dense(mlp_dim, name=f"{name}_mlp_hidden")(norm(f"{name}_mlp_norm")(tokens))
            hidden = layers.Activation("gelu", name=f"{name}_mlp_gelu")(hidden)
            fed = layers.Dense(tokens.shape[-1], name=f"{name}_mlp_output")(hidden)
            return blocks.scaled_residual(tokens, fed, layer_scale, f"{name}_mlp", drop_rate)

        def build_features(image):
            maps, features = blocks.two_convolutions(image, filters[0]), {}
            rates = iter(blocks.drop_rates(stochastic_depth_rate, sum(depths)))
            for i, (width, depth) in enumerate(zip(filters, depths, strict=True)):
                if i:
                    maps = blocks.downsampling(maps, width, f"stage{i}_conv")
                is_last = i == len(filters) - 1
                for j in range(depth - transformer_depth if is_last else depth):
                    maps = _pooling_block(
                        maps, pool_size, int(mlp_ratio * width), layer_scale, next(rates),
                        f"stage{i}_block{j}",
                    )  # fmt: skip
                if not is_last:
                    features[f"stage{i}"] = maps
            grid, tokens = maps.shape[1:3], blocks.flatten(maps, "map_tokens")
            for j in range(depth - transformer_depth, depth):
                tokens = transformer_block(tokens, grid, next(rates), f"stage{i}_block{j}")
            features[f"stage{i}"] = blocks.as_maps(tokens, grid, f"stage{i}_maps")
            pooled = layers.GlobalAveragePooling1D(name="mean_token")(norm("head_norm")(tokens))
            return {**features, "pooled": pooled}

        head = blocks.classifier(num_classes, two_heads=distilled)
        super().__init__(build_features, head, arguments, **kwargs)


def _pooling_block(maps, pool_size, hidden, layer_scale, drop_rate, name):
    """What average pooling changes is added to the maps, and then a feed-forward of convolutions."""
    pooled = layers.AveragePooling2D(pool_size, 1, "same", name=f"{name}_pool")(maps)
    change = layers.Subtract(name=f"{name}_pool_change")([pooled, maps])
    maps = blocks.scaled_residual(maps, change, layer_scale, f"{name}_pool", drop_rate)
    inner = blocks.convolution(maps, hidden, 1, 1, True, f"{name}_mlp_hidden")
    inner = blocks.normalized(inner, f"{name}_mlp_hidden", "gelu")
    inner = blocks.convolution(inner, maps.shape[-1], 1, 1, True, f"{name}_mlp_output")
    inner = blocks.normalized(inner, f"{name}_mlp_output")
    return blocks.scaled_residual(maps, inner, layer_scale, f"{name}_mlp", drop_rate)


def _check_arguments(arguments):
    blocks.check_image_shape(arguments["input_shape"])
    blocks.check_positive(arguments, "num_classes", "num_heads", "key_dim")
    blocks.check_stages(arguments, "filters", "depths")
    blocks.check_integer("transformer_depth", arguments["transformer_depth"], 0)
    for name in ("value_ratio", "mlp_ratio"):
        blocks.check_numbers(name, (arguments[name],), 1)
    blocks.check_odd("pool_size", arguments["pool_size"])
    blocks.check_rate("stochastic_depth_rate", arguments["stochastic_depth_rate"])
    if arguments["transformer_depth"] > arguments["depths"][-1]:
        raise InputError(
            "transformer_depth has to be at most the last number of depths; received "
            f"transformer_depth={arguments['transformer_depth']}, depths={arguments['depths']}"
        )


for _name, (_filters, _depths, _transformer_depth) in VARIANTS.items():
    register_model(
        _name,
        EfficientFormer,
        input_shape=(64, 64, 3),
        num_classes=200,
        arguments={"filters": _filters, "depths": _depths, "transformer_depth": _transformer_depth},
    )
