"""Attention of the X-former programs: the four kinds, under the names of the packages that they use."""

from hsvit_keras.checkpoints import tensors as read
from hsvit_runtime.errors import InputError

# Arguments of each kind of attention in the authors' constructors.
_SETTINGS_OF = {
    "linformer": ("k", "one_kv_head", "share_kv"),
    "performer": (
        "nb_features", "local_attn_heads", "local_window_size", "generalized_attention", "qkv_bias",
        "attn_out_bias",
    ),
    "nystrom": ("num_landmarks", "pinv_iterations", "residual_conv_kernel"),
}  # fmt: skip
SETTINGS = sum(_SETTINGS_OF.values(), ())
_ALWAYS = ("share_kv", "attn_out_bias")  # true in all of the authors' programs, and in our graphs


def arguments(kind, config):
    """Our arguments of a kind of attention, from the authors' constructor arguments.

    Raises:
        InputError: there is an argument of another kind, or a value that our graph does not have.
    """
    for name in SETTINGS:
        if name in config and name not in _SETTINGS_OF.get(kind, ()):
            raise InputError(f"attention {kind!r} has no {name}; received {name}={config[name]!r}")
    for name in _ALWAYS:
        if not config.get(name, True):
            raise InputError(f"{name} has to be True, as in the authors' programs; received {config[name]!r}")
    if kind == "performer":
        return {
            "num_features": config.get("nb_features"),
            "kernel": "relu" if config.get("generalized_attention") else "softmax",
            "local_heads": config.get("local_attn_heads", 0),
            "window_size": config.get("local_window_size", 256),
            "batch_maximum": True,
        }
    if kind == "linformer":
        return {"projected_tokens": config.get("k", 64)}
    if kind == "nystrom":
        return {
            "num_landmarks": config.get("num_landmarks", 64),
            "iterations": config.get("pinv_iterations", 6),
            "residual_kernel": config.get("residual_conv_kernel", 33),
            "batch_maximum": True,
        }
    return {}


def load(kind, model, tensors, layer, name):
    """Sets the weights of one attention.

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


def load_block(model, tensors, ours, theirs):
    """Sets the weights of a block: attention and feed-forward, each with its normalization."""
    read.normalization(model.get_layer(f"{ours}_norm"), tensors, f"{theirs}.0.norm")
    load(model.attention, model, tensors, f"{ours}_attention", f"{theirs}.0.fn")
    read.normalization(model.get_layer(f"{ours}_mlp_norm"), tensors, f"{theirs}.1.norm")
    read.dense(model.get_layer(f"{ours}_mlp_hidden"), tensors, f"{theirs}.1.fn.net.0")
    read.dense(model.get_layer(f"{ours}_mlp_output"), tensors, f"{theirs}.1.fn.net.3")
