"""DHVT checkpoints of https://github.com/ArieSeirack/DHVT (vision_transformer.py)."""

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints import timm_blocks
from hsvit_keras.models import DHVT
from hsvit_runtime.errors import InputError

ARCHITECTURES = ("dhvt",)
REQUIRED = ("img_size", "patch_size", "num_classes", "embed_dim", "depth", "num_heads")
OPTIONAL = ("mlp_ratio", "qkv_bias", "norm_eps", "apply_dhvt", "in_chans")


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, `"dhvt"`.
        config: dict of the arguments of `VisionTransformer`, with `apply_dhvt`.
        input_shape: (height, width, channels) in pixels; square of side `img_size` by default.
    """
    if not config.get("apply_dhvt", True):
        raise InputError(
            "without apply_dhvt the authors' program is a plain vision transformer, architecture 'deit'; "
            f"received apply_dhvt={config['apply_dhvt']}"
        )
    side, dim = config["img_size"], config["embed_dim"]
    return DHVT(
        input_shape=input_shape or (side, side, config.get("in_chans", 3)),
        num_classes=config["num_classes"],
        patch_size=config["patch_size"],
        hidden_dim=dim,
        depth=config["depth"],
        num_heads=config["num_heads"],
        mlp_dim=int(dim * config.get("mlp_ratio", 4)),
        qkv_bias=config.get("qkv_bias", True),
        layer_norm_epsilon=config.get("norm_eps", 1e-6),
    )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    _load_patches(model, tensors)
    read.embedding(model.get_layer("class_token"), tensors, "cls_token")
    for i in range(model.depth):
        ours, theirs = f"block{i}", f"blocks.{i}"
        read.normalization(model.get_layer(f"{ours}_norm"), tensors, f"{theirs}.norm1")
        timm_blocks.attention(model, tensors, f"{ours}_attention", f"{theirs}.attn")
        _load_head_tokens(model, tensors, f"{ours}_attention_heads", f"{theirs}.attn")
        read.normalization(model.get_layer(f"{ours}_mlp_norm"), tensors, f"{theirs}.norm2")
        _load_feed_forward(model, tensors, f"{ours}_mlp", f"{theirs}.mlp")
    timm_blocks.heads(model, tensors)


def _load_patches(model, tensors):
    """In the authors' list every other layer is a convolution with its normalization; GELUs lie between."""
    for i in range((model.patch_size - 1).bit_length()):
        read.convolution(model.get_layer(f"patch_conv{i}"), tensors, f"patch_embed.proj.{2 * i}.0")
        read.normalization(model.get_layer(f"patch_norm{i}"), tensors, f"patch_embed.proj.{2 * i}.1")
    for layer, name in (("patch_affine_in", "pre_affine"), ("patch_affine_out", "post_affine")):
        layer = model.get_layer(layer)
        channels = layer.bias.shape[0]
        alpha, beta = (
            tensors.take(f"patch_embed.{name}.{part}", (1, channels, 1, 1)) for part in ("alpha", "beta")
        )
        layer.set_weights([alpha.reshape(layer.kernel.shape), beta.reshape(channels)])


def _load_head_tokens(model, tensors, layer, name):
    read.dense(model.get_layer(f"{layer}_dense"), tensors, f"{name}.ht_proj")
    read.normalization(model.get_layer(f"{layer}_norm"), tensors, f"{name}.ht_norm")
    read.embedding(model.get_layer(f"{layer}_embedding"), tensors, f"{name}.pos_embed")


def _load_feed_forward(model, tensors, layer, name):
    for i, convolution in enumerate((read.convolution, read.depthwise, read.convolution)):
        convolution(model.get_layer(f"{layer}_conv{i}"), tensors, f"{name}.conv{i + 1}")
        read.normalization(model.get_layer(f"{layer}_norm{i}"), tensors, f"{name}.bn{i + 1}")
    read.dense(model.get_layer(f"{layer}_compress"), tensors, f"{name}.compress")
    read.dense(model.get_layer(f"{layer}_excite"), tensors, f"{name}.excitation")
