"""CvT checkpoints of https://github.com/microsoft/CvT."""

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.models import ConvolutionalVisionTransformer
from hsvit_runtime.errors import InputError

ARCHITECTURES = ("cvt_microsoft",)
REQUIRED = ("num_classes", "spec")
OPTIONAL = ("act_layer", "norm_eps")
# Our argument with one value a stage -> the authors' entry of `spec`.
STAGES = {
    "hidden_dims": "dim_embed",
    "depths": "depth",
    "num_heads": "num_heads",
    "mlp_ratios": "mlp_ratio",
    "embedding_kernels": "patch_size",
    "embedding_strides": "patch_stride",
    "embedding_paddings": "patch_padding",
}
ACTIVATIONS = {"QuickGELU": "quick_gelu", "GELU": "gelu"}


def build(architecture, config, input_shape):
    """The model that the authors' constructor arguments describe.

    Args:
        architecture: str, `"cvt_microsoft"`.
        config: dict of the arguments of `ConvolutionalVisionTransformer`; `spec` holds those of its stages.
        input_shape: (height, width, channels) in pixels; (224, 224, 3) by default.
    """
    spec, name = config["spec"], config.get("act_layer", "QuickGELU")
    if name not in ACTIVATIONS or config.get("norm_eps", 1e-5) != 1e-5:
        raise InputError(
            f"act_layer has to be {' or '.join(ACTIVATIONS)}, norm_eps 1e-05; "
            f"received act_layer={name}, norm_eps={config.get('norm_eps')}"
        )
    return ConvolutionalVisionTransformer(
        input_shape=input_shape or (224, 224, 3),
        num_classes=config["num_classes"],
        activation=ACTIVATIONS[name],
        **stages(spec, STAGES, "qkv_proj_method"),
    )


def stages(spec, names, method):
    """Our arguments from what a config says of its stages.

    Args:
        spec: dict of the authors, with one value a stage.
        names: dict from our arguments to their entries.
        method: str, their entry of how queries, keys and values are projected.

    Raises:
        ValueError: the stages are of a kind that our model has not.
    """
    count = len(spec[method])
    (kernel,), (stride,), (bias,) = (set(spec[name]) for name in ("kernel_qkv", "stride_kv", "qkv_bias"))
    fixed = {
        method: ["dw_bn"] * count, "cls_token": [False] * (count - 1) + [True], "stride_q": [1] * count,
        "padding_q": [kernel // 2] * count, "padding_kv": [kernel // 2] * count,
    }  # fmt: skip
    for name, value in fixed.items():
        if list(spec[name]) != value:
            raise InputError(f"{name} has to be {value}; received {name}={spec[name]}")
    ours = {argument: spec[name] for argument, name in names.items()}
    return {**ours, "projection_kernel": kernel, "key_stride": stride, "qkv_bias": bias}


def load(model, tensors):
    """Sets the weights of `model` from the authors' tensors."""
    for i, depth in enumerate(model.depths):
        read.convolution(model.get_layer(f"stage{i}_conv"), tensors, f"stage{i}.patch_embed.proj")
        read.normalization(model.get_layer(f"stage{i}_norm"), tensors, f"stage{i}.patch_embed.norm")
        for j in range(depth):
            _load_block(model, tensors, f"stage{i}_block{j}", f"stage{i}.blocks.{j}")
    token = tensors.take(f"stage{len(model.depths) - 1}.cls_token", (1, 1, model.hidden_dims[-1]))
    model.get_layer("class_token").set_weights([token[0]])
    read.normalization(model.get_layer("head_norm"), tensors, "norm")
    read.dense(model.get_layer("head"), tensors, "head")


def _load_block(model, tensors, ours, theirs):
    read.normalization(model.get_layer(f"{ours}_norm"), tensors, f"{theirs}.norm1")
    for part in ("query", "key", "value"):
        layer, name = f"{ours}_attention_{part}", f"{theirs}.attn.conv_proj_{part[0]}"
        read.normalized_convolution(model, tensors, f"{layer}_conv", f"{name}.conv", f"{name}.bn")
        read.dense(model.get_layer(layer), tensors, f"{theirs}.attn.proj_{part[0]}")
    read.dense(model.get_layer(f"{ours}_attention_output"), tensors, f"{theirs}.attn.proj")
    read.normalization(model.get_layer(f"{ours}_mlp_norm"), tensors, f"{theirs}.norm2")
    read.dense(model.get_layer(f"{ours}_mlp_hidden"), tensors, f"{theirs}.mlp.fc1")
    read.dense(model.get_layer(f"{ours}_mlp_output"), tensors, f"{theirs}.mlp.fc2")
