"""MLP-Mixer, plain and hybrid, of the Vision X-formers, https://arxiv.org/abs/2107.02239.

Feed-forwards along the tokens alternate with feed-forwards along the channels. There is no class token and no
position embedding: the head reads the mean token.
"""

import keras
from keras import layers

from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model


@keras.saving.register_keras_serializable("hsvit_keras")
class MLPMixer(ImageModel):
    """MLP-Mixer, a Functional graph from images to logits.

    Features: `stage0`, the map of the convolutions of a hybrid model; `map`, the last tokens before the final
    normalization, on the grid of patches; `pooled`, the mean of the normalized tokens.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        embedding: str, `"patches"`, or `"convolutions"` for the hybrid model.
        patch_size: int, side of a patch in pixels; 1 with convolutions.
        embedding_stride: int, stride of the first convolution in pixels.
        hidden_dim: int, length of a token.
        depth: int, blocks.
        expansion: int, hidden width of both feed-forwards over what they mix.
        dropout_rate: float in [0, 1), of the feed-forwards.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    References:
        - [MLP-Mixer](https://arxiv.org/abs/2105.01601), section 2
        - [Resource-efficient Hybrid X-formers for Vision](https://arxiv.org/abs/2107.02239), Table 1
    """

    def __init__(
        self,
        input_shape=(32, 32, 3),
        num_classes=10,
        embedding="patches",
        patch_size=1,
        embedding_stride=1,
        hidden_dim=128,
        depth=4,
        expansion=1,
        dropout_rate=0.0,
        dtype=None,
        name="mlp_mixer",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_embedding(embedding, input_shape, patch_size, embedding_stride)
        blocks.check_positive(arguments, "num_classes", "hidden_dim", "depth", "expansion")
        blocks.check_rate("dropout_rate", dropout_rate)

        def build_features(image):
            tokens, maps = blocks.embed(image, embedding, patch_size, hidden_dim, embedding_stride)
            norm = blocks.layer_norm(1e-5)
            for i in range(depth):
                for part, mix in (("tokens", _mix_tokens), ("channels", _mix_channels)):
                    name = f"block{i}_{part}"
                    tokens = blocks.residual(
                        tokens,
                        norm(f"{name}_norm"),
                        lambda x, mix=mix, name=name: mix(x, expansion, dropout_rate, name),
                        name,
                    )
            return {
                **({"stage0": maps} if embedding == "convolutions" else {}),
                "map": blocks.map_of_tokens(tokens, 0, maps.shape[1:3], "last"),
                "pooled": layers.GlobalAveragePooling1D(name="mean_token")(norm("head_norm")(tokens)),
            }

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _mix_channels(tokens, expansion, dropout_rate, name):
    return blocks.feed_forward(tokens, expansion * tokens.shape[-1], dropout_rate, name)


def _mix_tokens(tokens, expansion, dropout_rate, name):
    channels = layers.Permute((2, 1), name=f"{name}_last")(tokens)
    return layers.Permute((2, 1), name=f"{name}_first")(
        _mix_channels(channels, expansion, dropout_rate, name)
    )


# The published counts belong to an expansion of 1.
register_model("mlp_mixer", MLPMixer, input_shape=(32, 32, 3), num_classes=10, arguments={})
register_model(
    "hybrid_mlp_mixer",
    MLPMixer,
    input_shape=(32, 32, 3),
    num_classes=10,
    arguments={"embedding": "convolutions"},
)
