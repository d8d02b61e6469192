"""DeiT: Training data-efficient image transformers, https://arxiv.org/abs/2012.12877.

The plain vision transformer with a class token, ViT of https://arxiv.org/abs/2010.11929. The distilled form
has a second token and a second head, which a teacher trains; the logits are the mean of both heads.
DeiT-Scaled are this graph with the sizes of An Investigation on Hardware-Aware Vision Transformer Scaling.
With a `keep_rate` below 1 blocks leave tokens out that receive little attention, as PoWER-BERT does, with
which HVT compares its pooling.

Differs from the authors' program: the mean of the heads is the only output, in training as well; the two are
the outputs of the layers `head` and `head_distillation`.
"""

import keras

from hsvit_keras.layers import ScoredAttention, TokenElimination
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError

# d, h, e, r, I, p of the scaling paper: blocks, heads, dim of a head, ratio of the MLP, image, patch.
VARIANTS = {
    # DeiT, Table 1
    "deit_tiny": (12, 3, 64, 4, 224, 16),
    "deit_small": (12, 6, 64, 4, 224, 16),
    "deit_base": (12, 12, 64, 4, 224, 16),
    # Scaling, Table 1: where the search starts
    "deit_scaled_start": (6, 2, 64, 4, 160, 16),
    # Table 2: for FLOPs
    "deit_scaled_tiny": (14, 4, 64, 4, 160, 16),
    "deit_scaled_small": (20, 4, 64, 4, 256, 16),
    "deit_scaled_base": (20, 6, 64, 4, 320, 16),
    # Table 5: for the latency on two devices, each at two sizes
    "deit_scaled_pixel3_e108": (16, 2, 108, 4, 160, 16),
    "deit_scaled_pixel3_e142": (16, 2, 142, 4, 160, 16),
    "deit_scaled_tx2_d6": (6, 4, 64, 16, 160, 16),
    "deit_scaled_tx2_d10": (10, 4, 64, 16, 160, 16),
    # Table 12: for the throughput on a V100
    "deit_scaled_v100": (13, 5, 64, 4, 160, 16),
    # Table 13: after random permutation
    "deit_scaled_tiny_rp": (17, 4, 60, 5, 171, 19),
    "deit_scaled_small_rp": (21, 4, 68, 5, 210, 15),
}


@keras.saving.register_keras_serializable("hsvit_keras")
class VisionTransformer(ImageModel):
    """Vision transformer of ViT and DeiT, plain or distilled, a Functional graph from images to logits.

    | model                     | input         | parameters | distilled  | MACs       | distilled MACs |
    | ------------------------- | ------------- | ---------- | ---------- | ---------- | -------------- |
    | `deit_tiny`               | 224 x 224 x 3 | 5,717,416  | 5,910,800  | 1,166.6 M  | 1,173.8 M      |
    | `deit_small`              | 224 x 224 x 3 | 22,050,664 | 22,436,432 | 4,280.2 M  | 4,305.3 M      |
    | `deit_base`               | 224 x 224 x 3 | 86,567,656 | 87,338,192 | 16,348.5 M | 16,441.1 M     |
    | `deit_scaled_start`       | 160 x 160 x 3 | 1,430,376  | 1,559,632  | 125.8 M    | 127.4 M        |
    | `deit_scaled_tiny`        | 160 x 160 x 3 | 11,537,128 | 11,794,640 | 1,134.3 M  | 1,147.0 M      |
    | `deit_scaled_small`       | 256 x 256 x 3 | 16,315,624 | 16,573,136 | 4,567.7 M  | 4,588.9 M      |
    | `deit_scaled_base`        | 320 x 320 x 3 | 36,324,712 | 36,710,480 | 16,066.4 M | 16,114.2 M     |
    | `deit_scaled_pixel3_e108` | 160 x 160 x 3 | 9,408,448  | 9,625,880  | 941.0 M    | 951.6 M        |
    | `deit_scaled_pixel3_e142` | 160 x 160 x 3 | 16,077,956 | 16,363,524 | 1,592.5 M  | 1,610.0 M      |
    | `deit_scaled_tx2_d6`      | 160 x 160 x 3 | 14,674,664 | 14,932,176 | 1,253.0 M  | 1,268.0 M      |
    | `deit_scaled_tx2_d10`     | 160 x 160 x 3 | 24,137,448 | 24,394,960 | 2,227.0 M  | 2,251.9 M      |
    | `deit_scaled_v100`        | 160 x 160 x 3 | 16,628,840 | 16,950,480 | 1,614.3 M  | 1,632.2 M      |
    | `deit_scaled_tiny_rp`     | 171 x 171 x 3 | 14,287,480 | 14,528,960 | 1,141.1 M  | 1,156.4 M      |
    | `deit_scaled_small_rp`    | 210 x 210 x 3 | 22,342,536 | 22,616,080 | 4,569.6 M  | 4,596.0 M      |
    | `vit_base`                | 64 x 64 x 3   | 85,445,576 |            | 21,444.2 M |                |

    Each `deit_...` has a form `..._distilled`. Trainable parameters with 1000 classes; multiply-adds are
    those of the mobile artifact. `vit_base` is ViT-B as HSViT compares with it, with 200 classes.

    Features: `map`, the last tokens before the final normalization, on the grid of patches; `pooled`, the
    normalized class token; `pooled_distillation`, the normalized distillation token if it has a head. Where
    tokens are left out there is no grid: in place of `map` stands `tokens`, the last tokens
    `(batch, kept, dim)`, class tokens first.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        patch_size: int, side of a patch in pixels; divides height and width.
        hidden_dim: int, length of a token.
        depth: int, blocks.
        num_heads: int; divides `hidden_dim`.
        mlp_dim: int, hidden width of the feed-forward.
        qkv_bias: bool, whether queries, keys and values have a bias.
        distilled: bool, whether there is a distillation token.
        distillation_head: bool, whether the distillation token has a head of its own; otherwise other tokens
            attend to it and nothing more.
        keep_rate: float in (0, 1], the share of its patches that a block keeps behind its attention: those
            that receive most of it; or a tuple, one for each block. Class tokens are kept.
        layer_norm_epsilon: float, added to the variance in each layer normalization.
        dropout_rate: float in [0, 1), of the feed-forward.
        stochastic_depth_rate: float in [0, 1), the chance that a branch of the last block is left out of an
            image in training; that of the others grows from 0 with their depth.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    Example:

    ```python
    model = hsvit_keras.create_model("deit_tiny", input_shape=(64, 64, 3), num_classes=200)
    logits = model(np.zeros((1, 64, 64, 3), "float32"))  # (1, 200)
    ```

    References:
        - [DeiT](https://arxiv.org/abs/2012.12877), Table 1
        - [ViT](https://arxiv.org/abs/2010.11929), Table 1
        - [HSViT](https://arxiv.org/abs/2404.05196), Table 3
        - [PoWER-BERT](https://arxiv.org/abs/2001.08950), section 3;
          [HVT](https://arxiv.org/abs/2103.10619), Table 1
        - An Investigation on Hardware-Aware Vision Transformer Scaling, Tables 1, 2, 5, 12 and 13
    """

    def __init__(
        self,
        input_shape=(224, 224, 3),
        num_classes=1000,
        patch_size=16,
        hidden_dim=192,
        depth=12,
        num_heads=3,
        mlp_dim=768,
        qkv_bias=True,
        distilled=False,
        distillation_head=True,
        keep_rate=1.0,
        layer_norm_epsilon=1e-6,
        dropout_rate=0.0,
        stochastic_depth_rate=0.0,
        dtype=None,
        name="deit",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_image_shape(input_shape, patch_size)
        blocks.check_positive(arguments, "num_classes", "hidden_dim", "depth", "num_heads", "mlp_dim")
        blocks.check_divides("num_heads", num_heads, "hidden_dim", hidden_dim)
        blocks.check_rate("dropout_rate", dropout_rate)
        blocks.check_rate("stochastic_depth_rate", stochastic_depth_rate)

        class_tokens = 2 if distilled else 1
        keep_rates = _keep_rates(keep_rate, depth)
        keeps_all = set(keep_rates) == {1.0}

        def build_features(image):
            tokens, maps = blocks.patch_embedding(image, patch_size, hidden_dim)
            tokens = blocks.with_class_token(tokens, count=class_tokens)
            norm = blocks.layer_norm(layer_norm_epsilon)
            project, output = blocks.dense(hidden_dim, qkv_bias), blocks.dense(hidden_dim)
            mixer = blocks.attention("softmax", num_heads, project, output)
            drop_rates = blocks.drop_rates(stochastic_depth_rate, depth)
            for i, (drop_rate, kept) in enumerate(zip(drop_rates, keep_rates, strict=True)):
                name = f"block{i}"
                if keeps_all:
                    tokens = blocks.attend(tokens, norm, mixer, name, drop_rate)
                else:
                    scored = _ScoredMixer(num_heads, project, output)
                    tokens = blocks.attend(tokens, norm, scored, name, drop_rate)
                    tokens = _eliminate(tokens, scored.scores, kept, class_tokens, name)
                tokens = blocks.feed_forward_residual(
                    tokens, norm, mlp_dim, dropout_rate, name, drop_rate=drop_rate
                )
            last = (
                blocks.map_of_tokens(tokens, class_tokens, maps.shape[1:3], "last") if keeps_all else tokens
            )
            return {
                "map" if keeps_all else "tokens": last,
                **blocks.pooled_class_tokens(tokens, norm, distilled and distillation_head),
            }

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


class _ScoredMixer:
    """A mixer of softmax attention that keeps the significance scores of the tokens, `(batch, tokens)`."""

    def __init__(self, num_heads, project, output):
        self._num_heads, self._project, self._output = num_heads, project, output

    def __call__(self, tokens, name):
        projected = (self._project(f"{name}_{part}")(tokens) for part in ("query", "key", "value"))
        mixed, self.scores = ScoredAttention(self._num_heads, name=name)(*projected)
        return self._output(f"{name}_output")(mixed)


def _eliminate(tokens, scores, keep_rate, class_tokens, name):
    """Leaves out the patches of lower scores; one is kept at least."""
    kept = max(1, round(keep_rate * (tokens.shape[1] - class_tokens)))
    return TokenElimination(class_tokens + kept, class_tokens, name=f"{name}_elimination")(tokens, scores)


def _keep_rates(keep_rate, depth):
    """The share of the patches that each block keeps."""
    rates = keep_rate if isinstance(keep_rate, tuple) else (keep_rate,) * depth
    numbers = all(
        isinstance(rate, int | float) and not isinstance(rate, bool) and 0 < rate <= 1 for rate in rates
    )
    if not numbers or len(rates) != depth:
        raise InputError(
            f"keep_rate has to be a number in (0, 1], or one for each of {depth} blocks; "
            f"received keep_rate={keep_rate!r}"
        )
    return rates


def _register(name, depth, num_heads, head_dim, mlp_ratio, side, patch_size, distilled):
    hidden_dim = num_heads * head_dim
    arguments = {
        "patch_size": patch_size, "hidden_dim": hidden_dim, "depth": depth, "num_heads": num_heads,
        "mlp_dim": mlp_ratio * hidden_dim, "distilled": distilled,
    }  # fmt: skip
    register_model(
        name,
        VisionTransformer,
        input_shape=(side, side, 3),
        num_classes=1000,
        arguments=arguments,
    )


for _name, _factors in VARIANTS.items():
    _register(_name, *_factors, distilled=False)
    _register(f"{_name}_distilled", *_factors, distilled=True)

# ViT, Table 1, with the patches and the epsilon of HSViT's comparison on Tiny-ImageNet
register_model(
    "vit_base",
    VisionTransformer,
    input_shape=(64, 64, 3),
    num_classes=200,
    arguments={
        "patch_size": 4, "hidden_dim": 768, "depth": 12, "num_heads": 12, "mlp_dim": 3072,
        "layer_norm_epsilon": 1e-12,
    },
)  # fmt: skip
