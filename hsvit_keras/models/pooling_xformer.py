"""PiT, PiP, PiL and PiN of the Vision X-formers, https://arxiv.org/abs/2107.02239.

Pooling-based vision transformers (https://arxiv.org/abs/2103.16302) with a choice of attention, with patches
or convolutions in front. The authors published no program: this is PiT as the paper's Table 5 counts it, with
the pooling of https://github.com/lucidrains/vit-pytorch, a depthwise convolution and one of size 1.
"""

import keras

from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model

# Table 5: two stages of two blocks, dim 128 and 256, 4 heads of 32 in both, feed-forward of 256.
VARIANTS = {
    "pix_pit": blocks.XFORMERS["softmax"],
    "pix_pip": blocks.XFORMERS["performer"],
    "pix_pin": blocks.XFORMERS["nystrom"],
}


@keras.saving.register_keras_serializable("hsvit_keras")
class PoolingXFormer(ImageModel):
    """Pooling-based X-former, a Functional graph from images to logits.

    From stage to stage height and width of the map of tokens are halved and tokens get twice as long.

    Features: `stage0`, `stage1`, ..., the map of tokens at the end of each stage; `pooled`, the normalized
    class token.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        attention: str, `"softmax"`, `"performer"`, `"linformer"`, `"nystrom"` or `"fourier"`.
        attention_arguments: dict, further arguments of the attention's layer in `hsvit_keras.layers`.
        embedding: str, `"patches"`, or `"convolutions"` for the hybrid models.
        patch_size: int, side of a patch in pixels; 1 with convolutions.
        embedding_stride: int, stride of the first convolution in pixels.
        hidden_dim: int, length of a token in the first stage.
        depths: sequence of int, blocks of each stage.
        num_heads: int, in all stages.
        head_dim: int, length of a head's queries in all stages.
        mlp_dim: int, hidden width of the feed-forward in all stages.
        qkv_bias: bool, whether queries, keys and values have a bias.
        dropout_rate: float in [0, 1), of the feed-forward.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    References:
        - [Resource-efficient Hybrid X-formers for Vision](https://arxiv.org/abs/2107.02239), Table 5
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
        depths=(2, 2),
        num_heads=4,
        head_dim=32,
        mlp_dim=256,
        qkv_bias=False,
        dropout_rate=0.0,
        dtype=None,
        name="pooling_xformer",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_embedding(embedding, input_shape, patch_size, embedding_stride)
        blocks.check_positive(arguments, "num_classes", "hidden_dim", "num_heads", "head_dim", "mlp_dim")
        blocks.check_stages(arguments, "depths")
        blocks.check_rate("dropout_rate", dropout_rate)

        def build_features(image):
            tokens, maps = blocks.embed(image, embedding, patch_size, hidden_dim, embedding_stride)
            tokens = blocks.with_class_token(tokens)
            grid, norm, features = maps.shape[1:3], blocks.layer_norm(1e-5), {}
            for stage, depth in enumerate(depths):
                dim = hidden_dim * 2**stage
                if stage:
                    name = f"stage{stage}_pool"
                    tokens, grid = blocks.pool_tokens(tokens, 1, grid, dim, name, pointwise=True)
                mixer = blocks.dense_attention(
                    attention, num_heads, head_dim, dim, qkv_bias, settings=attention_arguments
                )
                for i in range(depth):
                    name = f"stage{stage}_block{i}"
                    tokens = blocks.transformer_block(tokens, norm, mixer, mlp_dim, dropout_rate, name)
                name = f"stage{stage}"
                features[name] = blocks.map_of_tokens(tokens, 1, grid, name)
            return {**features, **blocks.pooled_class_tokens(tokens, norm)}

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _register(name, **arguments):
    register_model(name, PoolingXFormer, input_shape=(32, 32, 3), num_classes=10, arguments=arguments)


for _name, _arguments in VARIANTS.items():
    _register(_name, **_arguments)
    _register(f"hybrid_{_name}", embedding="convolutions", **_arguments)
