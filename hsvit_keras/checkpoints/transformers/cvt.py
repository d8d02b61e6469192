"""CvT of the `transformers` library, which takes 1e-5 for the epsilon of a config."""

from hsvit_keras.checkpoints import tensors as read
from hsvit_keras.checkpoints.cvt_microsoft import stages
from hsvit_keras.checkpoints.transformers import encoder
from hsvit_keras.checkpoints.transformers.settings import image_shape
from hsvit_keras.models import ConvolutionalVisionTransformer

CLASSES = ("CvtForImageClassification",)
PROCESSOR = "ConvNextImageProcessor"
DEFAULTS = {
    "cls_token": [False, False, True],
    "depth": [1, 2, 10],
    "embed_dim": [64, 192, 384],
    "kernel_qkv": [3, 3, 3],
    "mlp_ratio": [4.0, 4.0, 4.0],
    "num_channels": 3,
    "num_heads": [1, 3, 6],
    "padding_kv": [1, 1, 1],
    "padding_q": [1, 1, 1],
    "patch_padding": [2, 1, 1],
    "patch_sizes": [7, 3, 3],
    "patch_stride": [4, 2, 2],
    "qkv_bias": [True, True, True],
    "qkv_projection_method": ["dw_bn", "dw_bn", "dw_bn"],
    "stride_kv": [2, 2, 2],
    "stride_q": [1, 1, 1],
}
# Our argument with one value a stage -> the key of the config.
STAGES = {
    "hidden_dims": "embed_dim",
    "depths": "depth",
    "num_heads": "num_heads",
    "mlp_ratios": "mlp_ratio",
    "embedding_kernels": "patch_sizes",
    "embedding_strides": "patch_stride",
    "embedding_paddings": "patch_padding",
}


def build(config, input_shape, **common):
    """The model that a config describes.

    Args:
        config: dict of a config.json, with all keys of `DEFAULTS`.
        input_shape: (height, width, channels) in pixels; (224, 224, channels) by default.
        **common: other arguments of the model, `num_classes` among them.
    """
    return ConvolutionalVisionTransformer(
        input_shape=image_shape(config, input_shape),
        **stages(config, STAGES, "qkv_projection_method"),
        **common,
    )


def load(model, tensors):
    """Sets the weights of `model` from the published tensors."""
    for i, depth in enumerate(model.depths):
        stage = f"cvt.encoder.stages.{i}"
        embedding = f"{stage}.embedding.convolution_embeddings"
        read.convolution(model.get_layer(f"stage{i}_conv"), tensors, f"{embedding}.projection")
        read.normalization(model.get_layer(f"stage{i}_norm"), tensors, f"{embedding}.normalization")
        for j in range(depth):
            _load_block(model, tensors, f"stage{i}_block{j}", f"{stage}.layers.{j}")
    token = tensors.take(f"{stage}.cls_token", (1, 1, model.hidden_dims[-1]))
    model.get_layer("class_token").set_weights([token[0]])
    read.normalization(model.get_layer("head_norm"), tensors, "layernorm")
    read.dense(model.get_layer("head"), tensors, "classifier")


def _load_block(model, tensors, ours, theirs):
    for part in ("query", "key", "value"):
        layer, attention = f"{ours}_attention_{part}", f"{theirs}.attention.attention"
        convolution = f"{attention}.convolution_projection_{part}.convolution_projection"
        read.normalized_convolution(
            model, tensors, f"{layer}_conv", f"{convolution}.convolution", f"{convolution}.normalization"
        )
        read.dense(model.get_layer(layer), tensors, f"{attention}.projection_{part}")
    encoder.around_projections(model, tensors, ours, theirs)
