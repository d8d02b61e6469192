"""Vision X-formers: vision transformers with attention in linear time, https://arxiv.org/abs/2107.02239.

ViT, ViP (Performer), ViL (Linformer), ViN (Nystrom) and FNet are one graph with another mixer. Each
comes with learned or rotary positions, and with patches or three convolutions (hybrid) in front.

Differs from the authors' programs: Performer and Nystrom take their maxima over each image by default, so
that the logits of an image do not depend on the rest of the batch; `batch_maximum` gives the authors' form.
"""

import keras

from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model

# Table 1: 4 blocks of dim 128, 4 heads of 32. The settings are those of the authors' files; for ViP the text
# has ReLU features and local heads instead.
VARIANTS = {
    "vit": blocks.XFORMERS["softmax"],
    "vip": blocks.XFORMERS["performer"],
    "vil": blocks.XFORMERS["linformer"],
    "vin": blocks.XFORMERS["nystrom"],
    "fnet": {"attention": "fourier"},
}


@keras.saving.register_keras_serializable("hsvit_keras")
class VisionXFormer(ImageModel):
    """Vision transformer with a choice of attention, a Functional graph from images to logits.

    Features: `stage0`, the map of the convolutions of a hybrid model; `map`, the last tokens before the final
    normalization, on the grid of patches; `pooled`, the normalized class token.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        attention: str, `"softmax"`, `"performer"`, `"linformer"`, `"nystrom"` or `"fourier"`.
        attention_arguments: dict, further arguments of the attention's layer in `hsvit_keras.layers`.
        embedding: str, `"patches"`, or `"convolutions"` for the hybrid models.
        patch_size: int, side of a patch in pixels; 1 with convolutions.
        embedding_stride: int, stride of the first convolution in pixels.
        hidden_dim: int, length of a token.
        depth: int, blocks.
        num_heads: int.
        head_dim: int, length of a head's queries; heads need not fill `hidden_dim`.
        mlp_dim: int, hidden width of the feed-forward.
        qkv_bias: bool, whether queries, keys and values have a bias.
        shared_key_head: bool, whether all heads share one head of keys; for Linformer.
        rotary: bool, rotary positions of queries and keys in place of learned ones.
        dropout_rate: float in [0, 1), of the feed-forward.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    References:
        - [Resource-efficient Hybrid X-formers for Vision](https://arxiv.org/abs/2107.02239)
    """

    def __init__(
        self,
        input_shape=(32, 32, 3),
        num_classes=10,
        attention="softmax",
        attention_arguments=None,
        embedding="patches",
        patch_size=1,
        embedding_stride=1,
        hidden_dim=128,
        depth=4,
        num_heads=4,
        head_dim=32,
        mlp_dim=256,
        qkv_bias=False,
        shared_key_head=False,
        rotary=False,
        dropout_rate=0.0,
        dtype=None,
        name="vision_xformer",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_embedding(embedding, input_shape, patch_size, embedding_stride)
        blocks.check_positive(
            arguments, "num_classes", "hidden_dim", "depth", "num_heads", "head_dim", "mlp_dim"
        )
        blocks.check_rate("dropout_rate", dropout_rate)

        def build_features(image):
            tokens, maps = blocks.embed(image, embedding, patch_size, hidden_dim, embedding_stride)
            tokens = blocks.with_class_token(tokens, positions=not rotary)
            norm = blocks.layer_norm(1e-5)
            mixer = blocks.dense_attention(
                attention, num_heads, head_dim, hidden_dim, qkv_bias, shared_key_head, rotary,
                attention_arguments,
            )  # fmt: skip
            for i in range(depth):
                tokens = blocks.transformer_block(
                    tokens, norm, mixer, mlp_dim, dropout_rate, name=f"block{i}"
                )
            return {
                **({"stage0": maps} if embedding == "convolutions" else {}),
                "map": blocks.map_of_tokens(tokens, 1, maps.shape[1:3], "last"),
                **blocks.pooled_class_tokens(tokens, norm),
            }

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _register(name, **arguments):
    register_model(name, VisionXFormer, input_shape=(32, 32, 3), num_classes=10, arguments=arguments)


for _name, _arguments in VARIANTS.items():
    _register(_name, **_arguments)
    _register(f"hybrid_{_name}", embedding="convolutions", **_arguments)
    if _name != "fnet":  # Fourier mixing has no queries and keys that could be rotated
        _rotary = {**_arguments, "rotary": True}
        _rotary.pop("shared_key_head", None)  # Table 6: the files with rotary positions have a key a head
        _register(f"{_name}_rope", **_rotary)
        _register(f"hybrid_{_name}_rope", embedding="convolutions", **_rotary)
