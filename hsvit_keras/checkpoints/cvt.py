"""Checkpoints of CvP.ipynb and CvN.ipynb of https://github.com/pranavphoenix/VisionXformer.

CvT is the class of https://github.com/lucidrains/vit-pytorch.
"""

from hsvit_keras.checkpoints import attention
from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import ConvolutionalTransformer

KINDS = {"cvt": "convolutional", "cvp": "performer", "cvl": "linformer", "cvn": "nystrom"}
ARCHITECTURES = tuple(KINDS)
STAGES = (1, 2, 3)
# the authors' arguments of a stage, and ours
SETTINGS = {
    "emb_dim": "hidden_dims",
    "emb_kernel": "embedding_kernels",
    "emb_stride": "embedding_strides",
    "proj_kernel": "projection_kernels",
    "kv_proj_stride": "key_strides",
    "heads": "num_heads",
    "depth": "depths",
    "mlp_mult": "mlp_ratios",
}
REQUIRED = ("num_classes", *(f"s{stage}_{name}" for stage in STAGES for name in SETTINGS))
OPTIONAL = ("dropout", "dim_head", "image_size", *attention.SETTINGS)


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe, with their maxima over the batch."""
    side, kind = config.get("image_size", 32), KINDS[architecture]
    return ConvolutionalTransformer(
        input_shape=input_shape or (side, side, 3),
        num_classes=config["num_classes"],
        attention=kind,
        attention_arguments=attention.arguments(kind, config),
        head_dim=config.get("dim_head", 64 if kind == "convolutional" else 32),
        qkv_bias=config.get("qkv_bias", kind == "performer"),
        shared_key_head=config.get("one_kv_head", kind == "linformer"),
        dropout_rate=config.get("dropout", 0.0),
        **{ours: [config[f"s{stage}_{theirs}"] for stage in STAGES] for theirs, ours in SETTINGS.items()},
    )


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    for i, depth in enumerate(model.depths):
        read.convolution(model.get_layer(f"stage{i}_conv"), tensors, f"layers.{i}.0")
        _load_norm(model.get_layer(f"stage{i}_norm"), tensors, f"layers.{i}.1")
        for j in range(depth):
            ours, theirs = f"stage{i}_block{j}", f"layers.{i}.2.layers.{j}"
            _load_norm(model.get_layer(f"{ours}_norm"), tensors, f"{theirs}.0.norm")
            if model.attention == "convolutional":
                _load_convolutional_attention(model, tensors, f"{ours}_attention", f"{theirs}.0.fn")
            else:
                attention.load(model.attention, model, tensors, f"{ours}_attention", f"{theirs}.0.fn")
            _load_norm(model.get_layer(f"{ours}_mlp_norm"), tensors, f"{theirs}.1.norm")
            read.dense(model.get_layer(f"{ours}_mlp_hidden"), tensors, f"{theirs}.1.fn.net.0")
            read.dense(model.get_layer(f"{ours}_mlp_output"), tensors, f"{theirs}.1.fn.net.3")
    read.dense(model.get_layer("head"), tensors, "layers.5")


def _load_norm(layer, tensors, name):
    """(1, channels, 1, 1) to (channels)."""
    (channels,) = layer.gamma.shape
    layer.set_weights([tensors.take(f"{name}.{part}", (1, channels, 1, 1)).reshape(-1) for part in "gb"])


def _load_convolutional_attention(model, tensors, ours, theirs):
    for part, name in (("query", "to_q"), ("key_value", "to_kv")):
        read.depthwise(model.get_layer(f"{ours}_{part}_conv"), tensors, f"{theirs}.{name}.net.0")
        read.normalization(model.get_layer(f"{ours}_{part}_norm"), tensors, f"{theirs}.{name}.net.1")
    read.fused_dense([model.get_layer(f"{ours}_query")], tensors, f"{theirs}.to_q.net.2")
    pair = [model.get_layer(f"{ours}_{part}") for part in ("key", "value")]
    read.fused_dense(pair, tensors, f"{theirs}.to_kv.net.2")
    read.dense(model.get_layer(f"{ours}_output"), tensors, f"{theirs}.to_out.0")
