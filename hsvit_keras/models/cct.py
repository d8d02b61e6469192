"""CCT, CCP, CCL and CCN of the Vision X-formers, https://arxiv.org/abs/2107.02239.

Compact convolutional transformers (https://arxiv.org/abs/2104.05704) with a choice of attention: convolutions
with pooling make the tokens, and the head reads a learned weighted mean of all tokens.

As in the authors' program the second normalization of a block stands in the residual stream itself, and the
feed-forward is four times as wide as a token.
"""

import keras
from keras import layers

from hsvit_keras.layers import PositionEmbedding, SequencePooling
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model

# Tables 3 and 4: 4 blocks of dim 128, 4 heads of 32.
VARIANTS = {
    "cct": blocks.XFORMERS["softmax"],
    "ccp": blocks.XFORMERS["performer"],
    "ccl": blocks.XFORMERS["linformer"],
    "ccn": blocks.XFORMERS["nystrom"],
}
TOKENIZER_FILTERS = 64


@keras.saving.register_keras_serializable("hsvit_keras")
class CompactTransformer(ImageModel):
    """Compact convolutional transformer with a choice of attention, a Functional graph to logits.

    Features: `stage0`, `stage1`, ..., the map behind each convolution of the tokenizer; `map`, the last
    tokens before the final normalization, on the same grid; `pooled`, the weighted mean of the normalized
    tokens.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        attention: str, `"softmax"`, `"performer"`, `"linformer"`, `"nystrom"` or `"fourier"`.
        attention_arguments: dict, further arguments of the attention's layer in `hsvit_keras.layers`.
        strides: sequence of int, stride of each convolution of the tokenizer in pixels.
        kernel_size: int, odd, of the convolutions in pixels.
        pool_size: int, odd, window of the pooling behind each convolution in pixels.
        pool_stride: int, stride of the pooling in pixels.
        hidden_dim: int, length of a token.
        depth: int, blocks.
        num_heads: int.
        head_dim: int, length of a head's queries.
        mlp_ratio: int, hidden width of the feed-forward over `hidden_dim`.
        qkv_bias: bool, whether queries, keys and values have a bias.
        shared_key_head: bool, whether all heads share one head of keys; for Linformer.
        dropout_rate: float in [0, 1), of the feed-forward.
        stochastic_depth_rate: float in [0, 1), the chance that a branch of the last block is left out of an
            image in training; that of the others grows from 0 with their depth.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    References:
        - [Compact Transformers](https://arxiv.org/abs/2104.05704), section 3
        - [Resource-efficient Hybrid X-formers for Vision](https://arxiv.org/abs/2107.02239), Tables 3 and 4
    """

    def __init__(
        self,
        input_shape=(32, 32, 3),
        num_classes=10,
        attention="softmax",
        attention_arguments=None,
        strides=(1, 1, 1),
        kernel_size=3,
        pool_size=3,
        pool_stride=1,
        hidden_dim=128,
        depth=4,
        num_heads=4,
        head_dim=32,
        mlp_ratio=4,
        qkv_bias=False,
        shared_key_head=False,
        dropout_rate=0.0,
        stochastic_depth_rate=0.0,
        dtype=None,
        name="cct",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_image_shape(input_shape)
        blocks.check_positive(
            arguments,
            "num_classes",
            "pool_stride",
            "hidden_dim",
            "depth",
            "num_heads",
            "head_dim",
            "mlp_ratio",
        )
        blocks.check_stages(arguments, "strides")
        blocks.check_odd("kernel_size", kernel_size)
        blocks.check_odd("pool_size", pool_size)
        blocks.check_rate("dropout_rate", dropout_rate)
        blocks.check_rate("stochastic_depth_rate", stochastic_depth_rate)
        mixer = blocks.dense_attention(
            attention,
            num_heads,
            head_dim,
            hidden_dim,
            qkv_bias,
            shared_key_head,
            settings=attention_arguments,
        )

        def build_features(image):
            maps, features = image, {}
            for i, stride in enumerate(strides):
                filters = hidden_dim if i == len(strides) - 1 else TOKENIZER_FILTERS
                maps = blocks.convolution(maps, filters, kernel_size, stride, False, f"tokenizer_conv{i}")
                maps = layers.ReLU(name=f"tokenizer_relu{i}")(maps)
                maps = blocks.max_pooling(maps, pool_size, pool_stride, f"tokenizer_pool{i}")
                features[f"stage{i}"] = maps
            tokens = PositionEmbedding(name="position_embedding")(blocks.flatten(maps, "map_tokens"))
            norm = blocks.layer_norm(1e-5)
            for i, rate in enumerate(blocks.drop_rates(stochastic_depth_rate, depth)):
                tokens = _block(tokens, norm, mixer, mlp_ratio * hidden_dim, dropout_rate, rate, f"block{i}")
            features["map"] = blocks.map_of_tokens(tokens, 0, maps.shape[1:3], "last")
            tokens = norm("head_norm")(tokens)
            scores = layers.Dense(1, name="head_scores")(tokens)
            return {**features, "pooled": SequencePooling(name="head_pool")(tokens, scores)}

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _block(tokens, norm, mixer, mlp_dim, dropout_rate, drop_rate, name):
    tokens = blocks.attend(tokens, norm, mixer, name, drop_rate)
    tokens = norm(f"{name}_mlp_norm")(tokens)
    fed = blocks.feed_forward(tokens, mlp_dim, dropout_rate, f"{name}_mlp")
    return layers.Add(name=f"{name}_mlp_add")([tokens, blocks.dropped(fed, drop_rate, f"{name}_mlp")])


for _name, _arguments in VARIANTS.items():
    register_model(
        _name,
        CompactTransformer,
        input_shape=(32, 32, 3),
        num_classes=10,
        arguments=_arguments,
    )
