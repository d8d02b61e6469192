"""Transformer blocks as timm 0.4.12 names them: DeiT, PiT, HVT and DHVT are built on these."""

from hsvit_keras.checkpoints import tensors as read


def block(model, tensors, layer, name):
    """Sets the weights of one block.

    Args:
        model: `keras.Model`.
        tensors: `Tensors`.
        layer: str, what the names of our layers start with.
        name: str, the authors' module.
    """
    read.normalization(model.get_layer(f"{layer}_norm"), tensors, f"{name}.norm1")
    attention(model, tensors, f"{layer}_attention", f"{name}.attn")
    read.normalization(model.get_layer(f"{layer}_mlp_norm"), tensors, f"{name}.norm2")
    read.dense(model.get_layer(f"{layer}_mlp_hidden"), tensors, f"{name}.mlp.fc1")
    read.dense(model.get_layer(f"{layer}_mlp_output"), tensors, f"{name}.mlp.fc2")


def attention(model, tensors, layer, name):
    """Sets the weights of the projections of one attention."""
    projections = [model.get_layer(f"{layer}_{part}") for part in ("query", "key", "value")]
    read.fused_dense(projections, tensors, f"{name}.qkv")
    read.dense(model.get_layer(f"{layer}_output"), tensors, f"{name}.proj")


def heads(model, tensors):
    """Sets the weights of the last normalization and of the head; of both heads of a distilled model."""
    read.normalization(model.get_layer("head_norm"), tensors, "norm")
    read.dense(model.get_layer("head"), tensors, "head")
    if getattr(model, "distilled", False):
        read.dense(model.get_layer("head_distillation"), tensors, "head_dist")
