"""Attention of the X-former files: the four kinds, by the names that their packages use."""

from hsvit_keras.checkpoints import tensors as read


def load(kind, model, tensors, layer, name):
    """Hands one attention over.

    Args:
        kind: str, one of `hsvit_keras.models.blocks.ATTENTION` or `"fourier"`.
        model: `keras.Model`.
        tensors: `Tensors`.
        layer: str, what the names of our layers start with.
        name: str, the authors' module.
    """
    if kind == "fourier":
        return
    parts = ("query", "key") if kind == "linformer" else ("query", "key", "value")
    projections = [model.get_layer(f"{layer}_{part}") for part in parts]
    core, output = model.get_layer(layer), model.get_layer(f"{layer}_output")
    if kind in ("softmax", "nystrom"):
        read.fused_dense(projections, tensors, f"{name}.to_qkv")
        read.dense(output, tensors, f"{name}.to_out.0")
    else:
        for projection, part in zip(projections, parts, strict=True):
            read.dense(projection, tensors, f"{name}.to_{part[0]}")
        read.dense(output, tensors, f"{name}.to_out")
    if kind == "nystrom":
        size, _, heads, _ = core.residual.shape
        kernel = tensors.take(f"{name}.res_conv.weight", (heads, 1, size, 1))
        core.set_weights([kernel.transpose(2, 3, 0, 1)])
    elif kind == "performer":
        matrix = tensors.take(f"{name}.fast_attention.projection_matrix", core.projection.shape)
        core.set_weights([matrix])
    elif kind == "linformer":
        kept, length = core.projection.shape
        core.set_weights([tensors.take(f"{name}.proj_k", (length, kept)).T])
