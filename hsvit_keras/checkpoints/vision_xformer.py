"""Checkpoints of https://github.com/pranavphoenix/VisionXformer: ViT, ViP, ViL, ViN and FNet.

The files differ in the attention, in the embedding (Hybrid...) and in the positions (...RoPE); the name of
the architecture tells which one it is.
"""

from hsvit_keras.checkpoints import attention
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import VisionXFormer
from hsvit_runtime.errors import InputError

KINDS = {"vit": "softmax", "vip": "performer", "vil": "linformer", "vin": "nystrom", "fnet": "fourier"}
ARCHITECTURES = tuple(
    f"{hybrid}{kind}{rope}"
    for hybrid in ("", "hybrid_")
    for kind in KINDS
    for rope in ("", "_rope")
    if kind != "fnet" or not rope
)
REQUIRED = ("image_size", "patch_size", "num_classes", "dim", "depth", "heads", "mlp_dim", "dim_head")
OPTIONAL = ("channels", "padded_length", *attention.SETTINGS)


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe, with their maxima over the batch."""
    side, kind = config["image_size"], _kind(architecture)
    model = VisionXFormer(
        input_shape=input_shape or (side, side, config.get("channels", 3)),
        num_classes=config["num_classes"],
        attention=kind,
        attention_arguments=attention.arguments(kind, config),
        embedding="convolutions" if architecture.startswith("hybrid_") else "patches",
        patch_size=config["patch_size"],
        embedding_stride=(input_shape[0] if input_shape else side) // side,
        hidden_dim=config["dim"],
        depth=config["depth"],
        num_heads=config["heads"],
        head_dim=config["dim_head"],
        mlp_dim=config["mlp_dim"],
        qkv_bias=config.get("qkv_bias", kind == "performer"),
        shared_key_head=config.get("one_kv_head", False),
        rotary=architecture.endswith("_rope"),
    )
    _check_padded_length(model, config)
    return model


def _check_padded_length(model, config):
    """Nystrom's padded tokens, which the fixtures' configs tell, follow from the other arguments."""
    if "padded_length" in config:
        core = model.get_layer("block0_attention")
        tokens, landmarks = core.input[0].shape[1], getattr(core, "num_landmarks", 1)
        padded = tokens + -tokens % landmarks
        if config["padded_length"] != padded:
            raise InputError(
                f"padded_length of {tokens} tokens has to be {padded}; received {config['padded_length']!r}"
            )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    if model.embedding == "patches":
        read.patches(model.get_layer("patch_embedding"), tensors, "to_patch_embedding.1")
    else:
        for i in range(3):
            read.convolution(model.get_layer(f"embedding_conv{i}"), tensors, f"to_patch_embedding.{i}")
    read.embedding(model.get_layer("class_token"), tensors, "cls_token")
    if not model.rotary:
        read.embedding(model.get_layer("position_embedding"), tensors, "pos_embedding")
    tensors.ignore("pos_embedding")  # two of the classes with rotary positions have it and do not use it
    for i in range(model.depth):
        attention.load_block(model, tensors, f"block{i}", f"transformer.layers.{i}")
    read.normalization(model.get_layer("head_norm"), tensors, "mlp_head.0")
    read.dense(model.get_layer("head"), tensors, "mlp_head.1")


def _kind(architecture):
    return KINDS[architecture.removeprefix("hybrid_").removesuffix("_rope")]
