"""Transformer blocks as the `transformers` library names them: ViT, DeiT, MobileViT and CvT have these."""

from hsvit_keras.checkpoints import tensors as read


def block(model, tensors, layer, name):
    """Sets the weights of one block with Dense projections.

    Args:
        model: `keras.Model`.
        tensors: `Tensors`.
        layer: str, what the names of our layers start with.
        name: str, the authors' module.
    """
    for part in ("query", "key", "value"):
        projection = model.get_layer(f"{layer}_attention_{part}")
        read.dense(projection, tensors, f"{name}.attention.attention.{part}")
    around_projections(model, tensors, layer, name)


def around_projections(model, tensors, layer, name):
    """Sets the weights of one block, but for the projections of queries, keys and values."""
    read.normalization(model.get_layer(f"{layer}_norm"), tensors, f"{name}.layernorm_before")
    read.dense(model.get_layer(f"{layer}_attention_output"), tensors, f"{name}.attention.output.dense")
    read.normalization(model.get_layer(f"{layer}_mlp_norm"), tensors, f"{name}.layernorm_after")
    read.dense(model.get_layer(f"{layer}_mlp_hidden"), tensors, f"{name}.intermediate.dense")
    read.dense(model.get_layer(f"{layer}_mlp_output"), tensors, f"{name}.output.dense")
