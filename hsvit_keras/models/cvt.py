"""CvT, CvP, CvL and CvN of the Vision X-formers, https://arxiv.org/abs/2107.02239.

Convolutional vision transformers (https://arxiv.org/abs/2103.15808) in three stages without class token. CvT
projects by depthwise convolutions; CvP, CvL and CvN exchange its attention and project by Dense layers.
"""

import keras
from keras import layers

from hsvit_keras.layers import ChannelNormalization, SoftmaxAttention
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError

# Tables 3 and 4: depths 1, 1, 2 of dim 128, 4 heads; of 64 in CvT and of 32 in the others.
VARIANTS = {
    "cvt": {"attention": "convolutional", "head_dim": 64},
    "cvp": blocks.XFORMERS["performer"],
    "cvl": blocks.XFORMERS["linformer"],
    "cvn": blocks.XFORMERS["nystrom"],
}


@keras.saving.register_keras_serializable("hsvit_keras")
class ConvolutionalTransformer(ImageModel):
    """Convolutional vision transformer with a choice of attention, a Functional graph to logits.

    Features: `stage0`, `stage1`, `stage2`, the map at the end of each stage; `pooled`, the mean of the last.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        attention: str, `"convolutional"` for softmax attention behind convolutional projections, or
            `"softmax"`, `"performer"`, `"linformer"`, `"nystrom"`, `"fourier"`.
        attention_arguments: dict, further arguments of the attention's layer in `hsvit_keras.layers`.
        hidden_dims: sequence of int, one a stage, length of a token.
        depths: sequence of int, one a stage, blocks.
        num_heads: sequence of int, one a stage.
        mlp_ratios: sequence of int, one a stage, hidden width of the feed-forward over the token's.
        embedding_kernels: sequence of int, one a stage, odd size of its convolution in pixels.
        embedding_strides: sequence of int, one a stage, stride of its convolution in pixels.
        projection_kernels: sequence of int, one a stage, odd; of convolutional projections.
        key_strides: sequence of int, one a stage; of convolutional projections of keys and values.
        head_dim: int, length of a head's queries.
        qkv_bias: bool, whether queries, keys and values of Dense projections have a bias.
        shared_key_head: bool, whether all heads share one head of keys; for Linformer.
        dropout_rate: float in [0, 1), of the feed-forward.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit, or the stages are not of one number.

    References:
        - [CvT](https://arxiv.org/abs/2103.15808), section 3
        - [Resource-efficient Hybrid X-formers for Vision](https://arxiv.org/abs/2107.02239), Tables 3 and 4
    """

    def __init__(
        self,
        input_shape=(32, 32, 3),
        num_classes=10,
        attention="convolutional",
        attention_arguments=None,
        hidden_dims=(128, 128, 128),
        depths=(1, 1, 2),
        num_heads=(4, 4, 4),
        mlp_ratios=(2, 2, 2),
        embedding_kernels=(3, 3, 3),
        embedding_strides=(1, 1, 1),
        projection_kernels=(3, 3, 3),
        key_strides=(1, 1, 1),
        head_dim=32,
        qkv_bias=False,
        shared_key_head=False,
        dropout_rate=0.0,
        dtype=None,
        name="cvt",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_image_shape(input_shape)
        blocks.check_choice("attention", attention, ("convolutional", *blocks.ATTENTION, "fourier"))
        blocks.check_positive(arguments, "num_classes", "head_dim")
        blocks.check_rate("dropout_rate", dropout_rate)
        blocks.check_stages(
            arguments,
            "hidden_dims", "depths", "num_heads", "mlp_ratios", "embedding_kernels", "embedding_strides",
            "projection_kernels", "key_strides",
        )  # fmt: skip
        for kernel in embedding_kernels:
            blocks.check_odd("each number of embedding_kernels", kernel)
        for kernel in projection_kernels:
            blocks.check_odd("each number of projection_kernels", kernel)

        def mixer_of(stage, maps):
            heads, dim = num_heads[stage], hidden_dims[stage]
            if attention == "convolutional":
                if attention_arguments:
                    raise InputError(
                        "convolutional attention has no further arguments; "
                        f"received attention_arguments={attention_arguments}"
                    )
                return _convolutional_attention(
                    maps.shape[1:3], heads, head_dim, dim, projection_kernels[stage], key_strides[stage]
                )
            return blocks.dense_attention(
                attention, heads, head_dim, dim, qkv_bias, shared_key_head, settings=attention_arguments
            )

        def build_features(image):
            maps, features = image, {}
            for i, dim in enumerate(hidden_dims):
                kernel, stride = embedding_kernels[i], embedding_strides[i]
                maps = blocks.convolution(maps, dim, kernel, stride, True, f"stage{i}_conv")
                maps = _norm(f"stage{i}_norm")(maps)
                tokens, mixer = blocks.flatten(maps, f"stage{i}_tokens"), mixer_of(i, maps)
                for j in range(depths[i]):
                    name = f"stage{i}_block{j}"
                    tokens = blocks.transformer_block(
                        tokens, _norm, mixer, mlp_ratios[i] * dim, dropout_rate, name
                    )
                maps = layers.Reshape(maps.shape[1:], name=f"stage{i}_maps")(tokens)
                features[f"stage{i}"] = maps
            return {**features, "pooled": layers.GlobalAveragePooling2D(name="mean_map")(maps)}

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _norm(name):
    return ChannelNormalization(name=name)


def _convolutional_attention(grid, num_heads, head_dim, dim, kernel_size, key_stride):
    """A mixer whose projections are depthwise convolutions over the map of the tokens: section 3.2."""

    def convolved(maps, stride, name):
        maps = blocks.depthwise_convolution(maps, kernel_size, stride, 1, False, f"{name}_conv")
        maps = layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=f"{name}_norm")(maps)
        return blocks.flatten(maps, f"{name}_tokens")

    def mix(tokens, name):
        maps = layers.Reshape((*grid, tokens.shape[-1]), name=f"{name}_maps")(tokens)
        project = blocks.dense(num_heads * head_dim, use_bias=False)
        query = project(f"{name}_query")(convolved(maps, 1, f"{name}_query"))
        around = convolved(maps, key_stride, f"{name}_key_value")
        key, value = project(f"{name}_key")(around), project(f"{name}_value")(around)
        mixed = SoftmaxAttention(num_heads, name=name)(query, key, value)
        return layers.Dense(dim, name=f"{name}_output")(mixed)

    return mix


for _name, _arguments in VARIANTS.items():
    register_model(
        _name,
        ConvolutionalTransformer,
        input_shape=(32, 32, 3),
        num_classes=10,
        arguments=_arguments,
    )
