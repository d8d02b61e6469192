"""LeViT, LeViP, LeViL and LeViN of the Vision X-formers, https://arxiv.org/abs/2107.02239.

Convolutions in front, then one stage of blocks without class token, positions and layer normalization. LeViT
follows the paper's changes to LeViT (https://arxiv.org/abs/2104.01136): one stage, no positional bias; its
projections are batch-normalized. LeViP, LeViL and LeViN exchange its attention and normalize nothing.
"""

import keras
from keras import layers

from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError

# Tables 3 and 4: 4 blocks of dim 128, 4 heads of 32, feed-forward of twice the dim.
VARIANTS = {
    "levit": blocks.XFORMERS["softmax"],
    "levip": blocks.XFORMERS["performer"],
    "levil": blocks.XFORMERS["linformer"],
    "levin": blocks.XFORMERS["nystrom"],
}


@keras.saving.register_keras_serializable("hsvit_keras")
class LeViT(ImageModel):
    """One-stage LeViT with a choice of attention, a Functional graph from images to logits.

    Features: `stage0`, the map of the convolutions in front; `map`, the last tokens on the same grid;
    `pooled`, their mean.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        attention: str, `"softmax"`, `"performer"`, `"linformer"`, `"nystrom"` or `"fourier"`.
        attention_arguments: dict, further arguments of the attention's layer in `hsvit_keras.layers`.
        embedding_stride: int, stride of the first convolution in pixels.
        hidden_dim: int, length of a token.
        depth: int, blocks.
        num_heads: int.
        head_dim: int, length of a head's queries.
        value_dim: int, length of a head's values; `head_dim` by default. For softmax attention.
        mlp_ratio: int, hidden width of the feed-forward over `hidden_dim`.
        qkv_bias: bool, whether queries, keys and values have a bias; softmax attention has none.
        shared_key_head: bool, whether all heads share one head of keys; for Linformer.
        dropout_rate: float in [0, 1), of the feed-forward.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    References:
        - [Resource-efficient Hybrid X-formers for Vision](https://arxiv.org/abs/2107.02239), Tables 3 and 4
    """

    def __init__(
        self,
        input_shape=(32, 32, 3),
        num_classes=10,
        attention="softmax",
        attention_arguments=None,
        embedding_stride=1,
        hidden_dim=128,
        depth=4,
        num_heads=4,
        head_dim=32,
        value_dim=None,
        mlp_ratio=2,
        qkv_bias=False,
        shared_key_head=False,
        dropout_rate=0.0,
        dtype=None,
        name="levit",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_image_shape(input_shape)
        blocks.check_positive(
            arguments,
            "num_classes", "embedding_stride", "hidden_dim", "depth", "num_heads", "head_dim", "mlp_ratio",
        )  # fmt: skip
        blocks.check_rate("dropout_rate", dropout_rate)
        if value_dim is not None:
            blocks.check_integer("value_dim", value_dim, 1)
            if attention != "softmax":
                raise InputError(
                    "only softmax attention has values of another length; "
                    f"received value_dim={value_dim}, attention={attention!r}"
                )
        mixer = blocks.dense_attention(
            attention,
            num_heads,
            head_dim,
            hidden_dim,
            qkv_bias,
            shared_key_head,
            settings=attention_arguments,
            wrap=_as_levit if attention == "softmax" else None,
            value_dim=value_dim,
        )

        def build_features(image):
            tokens, maps = blocks.embed(image, "convolutions", 1, hidden_dim, embedding_stride)
            for i in range(depth):
                mixed = mixer(tokens, f"block{i}_attention")
                tokens = layers.Add(name=f"block{i}_attention_add")([tokens, mixed])
                fed = blocks.feed_forward(tokens, mlp_ratio * hidden_dim, dropout_rate, f"block{i}_mlp")
                tokens = layers.Add(name=f"block{i}_mlp_add")([tokens, fed])
            return {
                "stage0": maps,
                "map": blocks.map_of_tokens(tokens, 0, maps.shape[1:3], "last"),
                "pooled": layers.GlobalAveragePooling1D(name="mean_token")(tokens),
            }

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _as_levit(project, output):
    """Batch normalization behind all projections, and a GELU in front of the last."""
    return _normalized(project), _activated(_normalized(output))


def _normalized(project):
    """The projection with batch normalization behind it."""

    def make(name):
        norm = layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=f"{name}_norm")
        return lambda tokens: norm(project(name)(tokens))

    return make


def _activated(project):
    """The projection with a GELU in front of it."""
    return lambda name: lambda x: project(name)(layers.Activation("gelu", name=f"{name}_gelu")(x))


for _name, _arguments in VARIANTS.items():
    register_model(
        _name,
        LeViT,
        input_shape=(32, 32, 3),
        num_classes=10,
        arguments=_arguments,
    )
