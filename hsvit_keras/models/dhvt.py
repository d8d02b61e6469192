"""DHVT: Bridging the Gap Between ViTs and CNNs on Small Datasets, https://arxiv.org/abs/2210.05958.

Three parts help on small data sets: a patch embedding of several convolutions (SOPE), a feed-forward of
convolutions whose mean map also scales the class token (DAFF), and in each attention one more token for each
head, made from the mean of that head's features (HI-MHSA). There are no position embeddings.

Each part can be changed or left out, as in the supplement's ablations; without all of them the graph is that
of DeiT, with which they begin: `PLAIN`. The authors' program has the whole model alone, so the parts that
replace others are written from the supplement, section 2.2.

Differs from the authors' program in form only: the affine transformations are depthwise convolutions of size
1, and any rectangular image is taken.
"""

import keras
from keras import layers

from hsvit_keras.layers import FirstToken, JoinTokens, PositionEmbedding, TokenRange
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError

# Supplement, Table 11: image, classes, patch, heads, dim; 12 blocks. The models of Table 10, CIFAR-100 at
# 224 x 224, are those of DomainNet with 100 classes.
VARIANTS = {
    "dhvt_t_cifar_p4": (32, 100, 4, 4, 192),
    "dhvt_t_cifar_p2": (32, 100, 2, 4, 192),
    "dhvt_s_cifar_p4": (32, 100, 4, 8, 384),
    "dhvt_s_cifar_p2": (32, 100, 2, 8, 384),
    "dhvt_t_domainnet": (224, 345, 16, 4, 192),
    "dhvt_s_domainnet": (224, 345, 16, 6, 384),
    "dhvt_t_imagenet": (224, 1000, 16, 3, 192),
    "dhvt_s_imagenet": (224, 1000, 16, 6, 384),
}
MLP_RATIO = 4
SQUEEZE_RATIO = 4
# The arguments that make a plain vision transformer, without any of the three parts.
PLAIN = {
    "embedding": "patches", "position_embedding": True, "head_tokens": False, "split_class_token": False,
    "recalibration": None, "neighbours": None, "mlp_norm": None,
}  # fmt: skip
# The dim over the filters of each convolution that makes the patches, all with stride 2.
_PATCHES = {2: (1,), 4: (2, 1), 16: (8, 4, 2, 1)}


@keras.saving.register_keras_serializable("hsvit_keras")
class DHVT(ImageModel):
    """Dynamic hybrid vision transformer, a Functional graph from images to logits.

    | model              | input         | classes | parameters | MACs      |
    | ------------------ | ------------- | ------- | ---------- | --------- |
    | `dhvt_t_cifar_p4`  | 32 x 32 x 3   | 100     | 6,008,650  | 387.8 M   |
    | `dhvt_t_cifar_p2`  | 32 x 32 x 3   | 100     | 5,845,162  | 1,705.0 M |
    | `dhvt_s_cifar_p4`  | 32 x 32 x 3   | 100     | 23,425,450 | 1,528.9 M |
    | `dhvt_s_cifar_p2`  | 32 x 32 x 3   | 100     | 22,766,698 | 6,194.6 M |
    | `dhvt_t_domainnet` | 224 x 224 x 3 | 345     | 6,105,975  | 1,358.3 M |
    | `dhvt_s_domainnet` | 224 x 224 x 3 | 345     | 23,788,431 | 5,033.1 M |
    | `dhvt_t_imagenet`  | 224 x 224 x 3 | 1000    | 6,267,334  | 1,354.8 M |
    | `dhvt_s_imagenet`  | 224 x 224 x 3 | 1000    | 24,040,606 | 5,033.3 M |

    Trainable parameters; Table 11 prints 6.2 M and 24.1 M for the models of ImageNet. Multiply-adds are those
    of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the map behind each convolution of the patch embedding; `map`, the last
    tokens before the final normalization, on the grid of patches; `pooled`, the normalized class token.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        patch_size: int, side of a patch in pixels, 2, 4 or 16 with convolutions; divides height and width.
        hidden_dim: int, length of a token; a multiple of 4 and of `patch_size / 2`.
        depth: int, blocks.
        num_heads: int, heads and head tokens; divides `hidden_dim`.
        mlp_dim: int, channels inside the feed-forward.
        embedding: str, `"convolutions"` (SOPE) or `"patches"`, one convolution whose stride is the patch.
        embedding_norm: str, `"batch"` or `"layer"`, the normalization behind each convolution of SOPE.
        affine: bool, whether a gain and an offset of each channel stand in front of SOPE and behind it.
        position_embedding: bool, whether learned positions are added to the tokens.
        head_tokens: bool, whether attention has one more token for each head (HI-MHSA).
        split_class_token: bool, whether the class token stays out of the feed-forward. One that goes through
            it needs a feed-forward without map: `neighbours`, `recalibration` and `mlp_norm` are None.
        recalibration: str, what the mean map of the feed-forward scales: `"class_token"`, `"all_tokens"` or
            None.
        neighbours: str, what mixes neighbouring patches in the feed-forward: `"depthwise"`, a convolution of
            3 x 3, `"average"`, the mean of those of 3 x 3 patches that are there, or None.
        shortcut: bool, whether what is mixed is added to what it is mixed from.
        mlp_norm: str, `"batch"`, `"layer"` or None, the normalization behind each convolution of the
            feed-forward.
        qkv_bias: bool, whether queries, keys and values have a bias.
        layer_norm_epsilon: float, added to the variance in each layer normalization but for that of
            the head tokens, which has 1e-5.
        stochastic_depth_rate: float in [0, 1), the chance that a branch of the last block is left out of an
            image in training; that of the others grows from 0 with their depth.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    Example:

    ```python
    model = hsvit_keras.create_model("dhvt_t_cifar_p4", num_classes=10)
    logits = model(np.zeros((1, 32, 32, 3), "float32"))  # (1, 10)
    ```

    References:
        - [DHVT](https://arxiv.org/abs/2210.05958), section 3; supplement, sections 1 and 2.2, Table 11
    """

    def __init__(
        self,
        input_shape=(32, 32, 3),
        num_classes=100,
        patch_size=4,
        hidden_dim=192,
        depth=12,
        num_heads=4,
        mlp_dim=768,
        embedding="convolutions",
        embedding_norm="batch",
        affine=True,
        position_embedding=False,
        head_tokens=True,
        split_class_token=True,
        recalibration="class_token",
        neighbours="depthwise",
        shortcut=True,
        mlp_norm="batch",
        qkv_bias=True,
        layer_norm_epsilon=1e-6,
        stochastic_depth_rate=0.0,
        dtype=None,
        name="dhvt",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        _check_arguments(arguments)
        mixing = {
            "neighbours": neighbours,
            "shortcut": shortcut,
            "recalibration": recalibration,
            "normalize": _normalization(mlp_norm, layer_norm_epsilon),
        }

        def build_features(image):
            if embedding == "patches":
                stages = [blocks.patch_embedding(image, patch_size, hidden_dim)[1]]
            else:
                normalize = _normalization(embedding_norm, layer_norm_epsilon)
                stages = _patches(image, patch_size, hidden_dim, normalize, affine)
            maps, grid = stages[-1], stages[-1].shape[1:3]
            tokens = blocks.with_class_token(blocks.flatten(maps, "patch_tokens"), position_embedding)
            norm = blocks.layer_norm(layer_norm_epsilon)
            mixer = blocks.attention(
                "softmax", num_heads, blocks.dense(hidden_dim, qkv_bias), blocks.dense(hidden_dim)
            )
            if head_tokens:
                mixer = _with_head_tokens(mixer, num_heads)
            for i, rate in enumerate(blocks.drop_rates(stochastic_depth_rate, depth)):
                name = f"block{i}"
                tokens = blocks.attend(tokens, norm, mixer, name, rate)
                if split_class_token:
                    tokens = _feed(tokens, norm, grid, mlp_dim, mixing, rate, name)
                else:
                    tokens = blocks.feed_forward_residual(tokens, norm, mlp_dim, 0.0, name, drop_rate=rate)
            return {
                **{f"stage{i}": stage for i, stage in enumerate(stages)},
                "map": blocks.map_of_tokens(tokens, 1, grid, "last"),
                **blocks.pooled_class_tokens(tokens, norm),
            }

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _feed(tokens, norm, grid, mlp_dim, mixing, drop_rate, name):
    """The second half of a block whose class token stays out of the feed-forward."""
    return blocks.residual(
        tokens,
        norm(f"{name}_mlp_norm"),
        lambda x: _feed_forward(x, grid, mlp_dim, **mixing, name=f"{name}_mlp"),
        f"{name}_mlp",
        drop_rate,
    )


def _patches(image, patch_size, hidden_dim, normalize, affine):
    """SOPE, sequential overlapping patch embedding: a list of the map behind each convolution."""
    maps, stages = _affine(image, "patch_affine_in") if affine else image, []
    ratios = _PATCHES[patch_size]
    for i, ratio in enumerate(ratios):
        maps = blocks.convolution(maps, hidden_dim // ratio, 3, 2, False, f"patch_conv{i}")
        maps = normalize(maps, f"patch_norm{i}")
        if i < len(ratios) - 1 or len(ratios) == 1:  # the last has none, but for the only one
            maps = layers.Activation("gelu", name=f"patch_gelu{i}")(maps)
        stages.append(maps)
    return [*stages[:-1], _affine(maps, "patch_affine_out")] if affine else stages


def _affine(maps, name):
    """A gain and an offset for each channel, initially 1 and 0."""
    return layers.DepthwiseConv2D(1, depthwise_initializer="ones", name=name)(maps)


def _with_head_tokens(attention, num_heads):
    """HI-MHSA: attention with one more token for each head; their mean output is added to the class token."""

    def mix(tokens, name):
        count = tokens.shape[1]
        heads = _head_tokens(tokens, num_heads, f"{name}_heads")
        mixed = attention(JoinTokens(name=f"{name}_heads_join")(tokens, heads), name)
        heads = TokenRange(count, name=f"{name}_heads_answers")(mixed)
        heads = layers.GlobalAveragePooling1D(keepdims=True, name=f"{name}_heads_mean_answer")(heads)
        first = layers.Add(name=f"{name}_heads_add")([FirstToken(name=f"{name}_class_token")(mixed), heads])
        patches = TokenRange(1, count, name=f"{name}_patches")(mixed)
        return JoinTokens(name=f"{name}_join")(first, patches)

    return mix


def _head_tokens(tokens, num_heads, name):
    """`(batch, num_heads, dim)`: a token for each head, projected from that head's part of the mean token."""
    dim = tokens.shape[-1]
    mean = layers.GlobalAveragePooling1D(name=f"{name}_mean")(tokens)
    heads = layers.Reshape((num_heads, dim // num_heads), name=f"{name}_split")(mean)
    heads = layers.Dense(dim, name=f"{name}_dense")(heads)
    heads = layers.Reshape((num_heads * num_heads, dim // num_heads), name=f"{name}_parts")(heads)
    heads = layers.LayerNormalization(epsilon=1e-5, name=f"{name}_norm")(heads)
    heads = layers.Activation("gelu", name=f"{name}_gelu")(heads)
    heads = layers.Reshape((num_heads, dim), name=f"{name}_tokens")(heads)
    return PositionEmbedding(name=f"{name}_embedding")(heads)


def _feed_forward(tokens, grid, mlp_dim, neighbours, shortcut, recalibration, normalize, name):
    """DAFF, dynamic aggregation feed-forward: convolutions of the map, whose mean scales the class token."""
    dim = tokens.shape[-1]
    maps = blocks.as_maps(TokenRange(1, name=f"{name}_patches")(tokens), grid, f"{name}_maps")
    maps = blocks.convolution(maps, mlp_dim, 1, 1, True, f"{name}_conv0")
    maps = layers.Activation("gelu", name=f"{name}_gelu0")(normalize(maps, f"{name}_norm0"))
    if neighbours:
        near = _mix_neighbours(maps, neighbours, normalize, name)
        maps = layers.Add(name=f"{name}_near_add")([maps, near]) if shortcut else near
    maps = normalize(blocks.convolution(maps, dim, 1, 1, True, f"{name}_conv2"), f"{name}_norm2")

    first, patches = FirstToken(name=f"{name}_class_token")(tokens), blocks.flatten(maps, f"{name}_tokens")
    if recalibration is None:
        return JoinTokens(name=f"{name}_join")(first, patches)
    weight = _channel_weights(maps, name)
    if recalibration == "all_tokens":
        joined = JoinTokens(name=f"{name}_join")(first, patches)
        return layers.Multiply(name=f"{name}_scale")([joined, weight])
    first = layers.Multiply(name=f"{name}_scale")([first, weight])
    return JoinTokens(name=f"{name}_join")(first, patches)


def _mix_neighbours(maps, neighbours, normalize, name):
    """The depthwise convolution with what follows it, or the mean of 3 x 3 patches."""
    if neighbours == "average":
        return layers.AveragePooling2D(3, 1, "same", name=f"{name}_average")(maps)
    near = blocks.depthwise_convolution(maps, 3, 1, 1, True, f"{name}_conv1")
    return layers.Activation("gelu", name=f"{name}_gelu1")(normalize(near, f"{name}_norm1"))


def _channel_weights(maps, name):
    """A weight for each channel, made from the mean of the map: `(batch, 1, dim)`."""
    dim = maps.shape[-1]
    weight = layers.GlobalAveragePooling2D(name=f"{name}_squeeze")(maps)
    weight = layers.Dense(dim // SQUEEZE_RATIO, name=f"{name}_compress")(weight)
    weight = layers.Activation("gelu", name=f"{name}_compress_gelu")(weight)
    weight = layers.Dense(dim, name=f"{name}_excite")(weight)
    return layers.Reshape((1, dim), name=f"{name}_weight")(weight)


def _normalization(kind, epsilon):
    """A function from maps and a layer's name to the normalized maps."""
    return {
        "batch": lambda maps, name: layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=name)(maps),
        "layer": lambda maps, name: layers.LayerNormalization(epsilon=epsilon, name=name)(maps),
        None: lambda maps, name: maps,
    }[kind]


def _check_arguments(arguments):
    blocks.check_choice("embedding", arguments["embedding"], ("convolutions", "patches"))
    if arguments["embedding"] == "convolutions":
        blocks.check_choice("patch_size", arguments["patch_size"], tuple(_PATCHES))
    blocks.check_image_shape(arguments["input_shape"], arguments["patch_size"])
    blocks.check_positive(arguments, "num_classes", "hidden_dim", "depth", "num_heads", "mlp_dim")
    blocks.check_choice("embedding_norm", arguments["embedding_norm"], ("batch", "layer"))
    blocks.check_choice("mlp_norm", arguments["mlp_norm"], ("batch", "layer", None))
    blocks.check_choice("neighbours", arguments["neighbours"], ("depthwise", "average", None))
    blocks.check_choice("recalibration", arguments["recalibration"], ("class_token", "all_tokens", None))
    blocks.check_rate("stochastic_depth_rate", arguments["stochastic_depth_rate"])
    hidden_dim, half_patch = arguments["hidden_dim"], arguments["patch_size"] // 2
    blocks.check_divides("num_heads", arguments["num_heads"], "hidden_dim", hidden_dim)
    blocks.check_divides("the squeeze ratio", SQUEEZE_RATIO, "hidden_dim", hidden_dim)
    if arguments["embedding"] == "convolutions":
        blocks.check_divides("half the patch_size", half_patch, "hidden_dim", hidden_dim)
    parts = {name: arguments[name] for name in ("neighbours", "recalibration", "mlp_norm")}
    if not arguments["split_class_token"] and any(parts.values()):
        received = ", ".join(f"{name}={value!r}" for name, value in parts.items())
        raise InputError(
            "a class token that goes through the feed-forward needs one without map, neighbours=None, "
            f"recalibration=None and mlp_norm=None; received split_class_token=False, {received}"
        )


def _register(name, side, num_classes, patch_size, num_heads, hidden_dim):
    arguments = {
        "patch_size": patch_size, "hidden_dim": hidden_dim, "num_heads": num_heads,
        "mlp_dim": MLP_RATIO * hidden_dim,
    }  # fmt: skip
    register_model(name, DHVT, input_shape=(side, side, 3), num_classes=num_classes, arguments=arguments)


for _name, _variant in VARIANTS.items():
    _register(_name, *_variant)
