"""CvT: Introducing Convolutions to Vision Transformers, https://arxiv.org/abs/2103.15808.

Three stages of transformer blocks whose queries, keys and values are projected by depthwise convolutions of
the map of tokens, each by its own; a class token joins in the last stage. There are no positions. `cvt` of
the Vision X-formers, in cvt.py, is a smaller model of the same idea.

The registered forms are those that HSViT compares with, the class of transformers: a first kernel of 4 and an
exact GELU, which is `quick_gelu` in the authors' program.
"""

import functools

import keras
from keras import layers

from hsvit_keras.layers import ClassToken, JoinTokens, SoftmaxAttention, TokenRange
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model

# Blocks of each stage: Table 2.
VARIANTS = {"cvt_13": (1, 2, 10), "cvt_21": (1, 4, 16)}


@keras.saving.register_keras_serializable("hsvit_keras")
class ConvolutionalVisionTransformer(ImageModel):
    """CvT with a class token in its last stage, a Functional graph from images to logits.

    | model    | input       | classes | parameters | MACs    |
    | -------- | ----------- | ------- | ---------- | ------- |
    | `cvt_13` | 64 x 64 x 3 | 200     | 19,683,144 | 486.9 M |
    | `cvt_21` | 64 x 64 x 3 | 200     | 31,308,360 | 802.1 M |

    Trainable parameters, of which the convolution of the last block's queries acts on the map of `stage2`
    alone; multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, `stage2`, the map at the end of each stage; `pooled`, the normalized class
    token.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        hidden_dims: sequence of int, one a stage, length of a token.
        depths: sequence of int, one a stage, blocks.
        num_heads: sequence of int, one a stage; divides the stage's dim.
        mlp_ratios: sequence of float, one a stage, hidden width of the feed-forward over the token's.
        embedding_kernels: sequence of int, one a stage, size of its convolution in pixels.
        embedding_strides: sequence of int, one a stage, stride of its convolution in pixels.
        embedding_paddings: sequence of int, one a stage, zeros on each side in front of its convolution.
        projection_kernel: int, odd, size of the depthwise convolutions.
        key_stride: int, stride of those of keys and values.
        qkv_bias: bool, whether queries, keys and values have a bias.
        activation: str, of the feed-forward, `"gelu"` or `"quick_gelu"`.
        dropout_rate: float in [0, 1), of the feed-forward.
        stochastic_depth_rate: float in [0, 1), the chance that a branch of the last block is left out of an
            image in training; that of others grows from 0 with their depth in the last stage, the only one
            that has it.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    References:
        - [CvT](https://arxiv.org/abs/2103.15808), section 3 and Table 2
        - [HSViT](https://arxiv.org/abs/2404.05196), Table 3
    """

    def __init__(
        self,
        input_shape=(64, 64, 3),
        num_classes=200,
        hidden_dims=(64, 192, 384),
        depths=(1, 2, 10),
        num_heads=(1, 3, 6),
        mlp_ratios=(4, 4, 4),
        embedding_kernels=(4, 3, 3),
        embedding_strides=(4, 2, 2),
        embedding_paddings=(2, 1, 1),
        projection_kernel=3,
        key_stride=2,
        qkv_bias=True,
        activation="gelu",
        dropout_rate=0.0,
        stochastic_depth_rate=0.0,
        dtype=None,
        name="cvt_microsoft",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        _check_arguments(arguments)
        norm = blocks.layer_norm(1e-5)

        def build_features(image):
            maps, features = image, {}
            for i, (dim, depth) in enumerate(zip(hidden_dims, depths, strict=True)):
                maps = layers.ZeroPadding2D(embedding_paddings[i], name=f"stage{i}_conv_pad")(maps)
                maps = layers.Conv2D(dim, embedding_kernels[i], embedding_strides[i], name=f"stage{i}_conv")(
                    maps
                )
                grid = maps.shape[1:3]
                tokens = norm(f"stage{i}_norm")(blocks.flatten(maps, f"stage{i}_patch_tokens"))
                class_tokens = int(i == len(hidden_dims) - 1)
                if class_tokens:
                    tokens = ClassToken(name="class_token")(tokens)
                mixer = functools.partial(
                    _convolutional_attention, grid=grid, class_tokens=class_tokens, num_heads=num_heads[i],
                    kernel_size=projection_kernel, key_stride=key_stride, qkv_bias=qkv_bias,
                )  # fmt: skip
                rates = blocks.drop_rates(stochastic_depth_rate if class_tokens else 0.0, depth)
                for j, rate in enumerate(rates):
                    tokens = blocks.transformer_block(
                        tokens, norm, mixer, int(mlp_ratios[i] * dim), dropout_rate, f"stage{i}_block{j}",
                        activation, rate,
                    )  # fmt: skip
                maps = blocks.map_of_tokens(tokens, class_tokens, grid, f"stage{i}")
                features[f"stage{i}"] = maps
            return {**features, **blocks.pooled_class_tokens(tokens, norm)}

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _convolutional_attention(tokens, name, grid, class_tokens, num_heads, kernel_size, key_stride, qkv_bias):
    """Attention whose projections see the map around each token: section 3.2. Class tokens see none."""
    dim = tokens.shape[-1]
    maps = blocks.map_of_tokens(tokens, class_tokens, grid, f"{name}_map")
    if class_tokens:
        front = TokenRange(0, class_tokens, name=f"{name}_class_token")(tokens)

    def project(part, stride):
        convolved = blocks.depthwise_convolution(maps, kernel_size, stride, 1, False, f"{name}_{part}_conv")
        convolved = blocks.normalized(convolved, f"{name}_{part}_conv")
        around = blocks.flatten(convolved, f"{name}_{part}_tokens")
        if class_tokens:
            around = JoinTokens(name=f"{name}_{part}_join")(front, around)
        return layers.Dense(dim, use_bias=qkv_bias, name=f"{name}_{part}")(around)

    query, key, value = project("query", 1), project("key", key_stride), project("value", key_stride)
    mixed = SoftmaxAttention(num_heads, scale=dim**-0.5, name=name)(query, key, value)
    return layers.Dense(dim, name=f"{name}_output")(mixed)


def _check_arguments(arguments):
    blocks.check_image_shape(arguments["input_shape"])
    blocks.check_positive(arguments, "num_classes", "key_stride")
    blocks.check_stages(
        arguments, "hidden_dims", "depths", "num_heads", "embedding_kernels", "embedding_strides"
    )
    stages = len(arguments["hidden_dims"])
    blocks.check_numbers("mlp_ratios", arguments["mlp_ratios"], stages)
    blocks.check_numbers("embedding_paddings", arguments["embedding_paddings"], stages, -1)
    blocks.check_odd("projection_kernel", arguments["projection_kernel"])
    for heads, dim in zip(arguments["num_heads"], arguments["hidden_dims"], strict=True):
        blocks.check_divides("each number of num_heads", heads, "that of hidden_dims", dim)
    blocks.check_choice("activation", arguments["activation"], ("gelu", "quick_gelu"))
    blocks.check_rate("dropout_rate", arguments["dropout_rate"])
    blocks.check_rate("stochastic_depth_rate", arguments["stochastic_depth_rate"])


for _name, _depths in VARIANTS.items():
    register_model(
        _name,
        ConvolutionalVisionTransformer,
        input_shape=(64, 64, 3),
        num_classes=200,
        arguments={"depths": _depths, "stochastic_depth_rate": 0.1},
    )
