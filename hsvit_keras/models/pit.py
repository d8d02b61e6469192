"""PiT: Rethinking Spatial Dimensions of Vision Transformers, https://arxiv.org/abs/2103.16302.

A vision transformer in stages: between them a depthwise convolution halves the map of tokens and widens
them, while the class token goes through a Dense layer. Patches overlap. Only the map has positions.
PiT-Scaled are the same graph with the sizes of An Investigation on Hardware-Aware Vision Transformer Scaling.

Differs from the authors' program: the mean of the heads is the only output of a distilled model, in training
as well; the two are the outputs of the layers `head` and `head_distillation`. Any rectangular image is taken.
"""

import itertools

import keras

from hsvit_keras.layers import PositionEmbedding
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError

# Blocks and heads of each stage, dim of a head, image, patch and its stride.
VARIANTS = {
    # PiT, Table 1
    "pit_ti": ((2, 6, 4), (2, 4, 8), 32, 224, 16, 8),
    "pit_xs": ((2, 6, 4), (2, 4, 8), 48, 224, 16, 8),
    "pit_s": ((2, 6, 4), (3, 6, 12), 48, 224, 16, 8),
    "pit_b": ((3, 6, 4), (4, 8, 16), 64, 224, 14, 7),
    # Scaling, Tables 6 and 8
    "pit_scaled_tiny": ((2, 7, 4), (3, 6, 12), 32, 160, 16, 8),
    "pit_scaled_xs": ((2, 6, 4), (3, 6, 12), 48, 160, 16, 8),
    "pit_scaled_small": ((3, 10, 6), (2, 4, 8), 48, 256, 16, 8),
}


@keras.saving.register_keras_serializable("hsvit_keras")
class PoolingTransformer(ImageModel):
    """Pooling-based vision transformer, plain or distilled, a Functional graph from images to logits.

    | model              | input         | parameters | distilled  | MACs       | distilled MACs |
    | ------------------ | ------------- | ---------- | ---------- | ---------- | -------------- |
    | `pit_ti`           | 224 x 224 x 3 | 4,847,272  | 5,104,336  | 665.7 M    | 671.6 M        |
    | `pit_xs`           | 224 x 224 x 3 | 10,618,888 | 11,003,984 | 1,320.6 M  | 1,332.7 M      |
    | `pit_s`            | 224 x 224 x 3 | 23,461,912 | 24,039,056 | 2,705.4 M  | 2,731.2 M      |
    | `pit_b`            | 224 x 224 x 3 | 73,764,840 | 74,790,096 | 11,722.3 M | 11,802.6 M     |
    | `pit_scaled_tiny`  | 160 x 160 x 3 | 11,028,424 | 11,413,520 | 646.7 M    | 658.5 M        |
    | `pit_scaled_xs`    | 160 x 160 x 3 | 23,408,920 | 23,986,064 | 1,268.6 M  | 1,293.1 M      |
    | `pit_scaled_small` | 256 x 256 x 3 | 16,081,384 | 16,466,480 | 2,926.7 M  | 2,946.2 M      |

    Each has a form `..._distilled`. Trainable parameters with 1000 classes; the authors
    print 4.9 M for `pit_ti`. Multiply-adds are those of the mobile artifact.

    A token of a stage has the length `num_heads * head_dims` of that stage.

    Features: `stage0`, `stage1`, ..., the map of tokens at the end of each stage; `pooled`, the normalized
    class token; `pooled_distillation`, the normalized distillation token if distilled.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        patch_size: int, side of a patch in pixels; at most height and width.
        patch_stride: int, from patch to patch in pixels. Pixels left over at the right and at the bottom
            are ignored.
        depths: sequence of int, blocks of each stage.
        num_heads: sequence of int, heads of each stage.
        head_dims: sequence of int, length of a head's queries in each stage.
        mlp_ratio: float, hidden width of the feed-forward over the length of a token.
        distilled: bool, whether there is a distillation token with a head of its own.
        dropout_rate: float in [0, 1), of the feed-forward.
        stochastic_depth_rate: float in [0, 1), the chance that a branch of the block behind the last would be
            left out of an image in training; that of the others grows from 0 with their depth.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    Example:

    ```python
    model = hsvit_keras.create_model("pit_ti", input_shape=(64, 64, 3), num_classes=200)
    logits = model(np.zeros((1, 64, 64, 3), "float32"))  # (1, 200)
    ```

    References:
        - [PiT](https://arxiv.org/abs/2103.16302), Table 1
        - An Investigation on Hardware-Aware Vision Transformer Scaling, Tables 6 and 8
    """

    def __init__(
        self,
        input_shape=(224, 224, 3),
        num_classes=1000,
        patch_size=16,
        patch_stride=8,
        depths=(2, 6, 4),
        num_heads=(2, 4, 8),
        head_dims=(32, 32, 32),
        mlp_ratio=4,
        distilled=False,
        dropout_rate=0.0,
        stochastic_depth_rate=0.0,
        dtype=None,
        name="pit",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        _check_arguments(arguments)
        dims = [heads * size for heads, size in zip(num_heads, head_dims, strict=True)]

        def build_features(image):
            tokens, maps = blocks.patch_embedding(image, patch_size, dims[0], patch_stride)
            tokens = PositionEmbedding(name="position_embedding")(tokens)
            class_tokens = 2 if distilled else 1
            tokens = blocks.with_class_token(tokens, positions=False, count=class_tokens)
            grid, norm, features = maps.shape[1:3], blocks.layer_norm(1e-6), {}
            for stage, (depth, heads, dim) in enumerate(zip(depths, num_heads, dims, strict=True)):
                if stage:
                    tokens, grid = blocks.pool_tokens(tokens, class_tokens, grid, dim, f"stage{stage}_pool")
                mixer = blocks.attention("softmax", heads, blocks.dense(dim), blocks.dense(dim))
                for i in range(depth):
                    number = sum(depths[:stage]) + i
                    tokens = blocks.transformer_block(
                        tokens, norm, mixer, int(mlp_ratio * dim), dropout_rate, f"stage{stage}_block{i}",
                        drop_rate=stochastic_depth_rate * number / sum(depths),
                    )  # fmt: skip
                name = f"stage{stage}"
                features[name] = blocks.map_of_tokens(tokens, class_tokens, grid, name)
            return {**features, **blocks.pooled_class_tokens(tokens, norm, distilled)}

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _check_arguments(arguments):
    shape = blocks.check_image_shape(arguments["input_shape"])
    blocks.check_positive(arguments, "num_classes", "patch_size", "patch_stride")
    if min(shape[:2]) < arguments["patch_size"]:
        raise InputError(
            f"patch_size has to be at most height and width; "
            f"received patch_size={arguments['patch_size']}, input_shape={shape}"
        )
    blocks.check_stages(arguments, "depths", "num_heads", "head_dims")
    dims = [heads * size for heads, size in zip(arguments["num_heads"], arguments["head_dims"], strict=True)]
    if any(wide % narrow for narrow, wide in itertools.pairwise(dims)):
        raise InputError(
            "num_heads * head_dims of a stage has to be a multiple of that of the stage before; received "
            f"num_heads={arguments['num_heads']}, head_dims={arguments['head_dims']}"
        )
    ratio = arguments["mlp_ratio"]
    if isinstance(ratio, bool) or not isinstance(ratio, int | float) or int(ratio * dims[0]) < 1:
        raise InputError(f"mlp_ratio has to be a positive number; received mlp_ratio={ratio!r}")
    blocks.check_rate("dropout_rate", arguments["dropout_rate"])
    blocks.check_rate("stochastic_depth_rate", arguments["stochastic_depth_rate"])


def _register(name, depths, num_heads, head_dim, side, patch_size, patch_stride, distilled):
    arguments = {
        "patch_size": patch_size, "patch_stride": patch_stride, "depths": depths, "num_heads": num_heads,
        "head_dims": (head_dim,) * len(depths), "distilled": distilled,
    }  # fmt: skip
    register_model(
        name,
        PoolingTransformer,
        input_shape=(side, side, 3),
        num_classes=1000,
        arguments=arguments,
    )


for _name, _sizes in VARIANTS.items():
    _register(_name, *_sizes, distilled=False)
    _register(f"{_name}_distilled", *_sizes, distilled=True)
