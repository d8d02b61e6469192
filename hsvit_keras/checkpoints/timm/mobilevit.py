"""MobileViT as timm names it."""

from hsvit_keras.checkpoints import mobilevit_weights, timm_blocks

_NAMES = mobilevit_weights.Names(
    stem="stem",
    residual="stages.{stage}.{index}",
    downsampling="stages.{stage}.0",
    expand="conv1_1x1",
    depthwise="conv2_kxk",
    project="conv3_1x1",
    transformer="stages.{stage}.1",
    local="conv_kxk",
    input="conv_1x1",
    block="transformer.{index}",
    norm="norm",
    output="conv_proj",
    fusion="conv_fusion",
    last="final_conv",
    head="head.fc",
    convolution="conv",
    normalization="bn",
)


def load(model, tensors):
    """Sets the weights of `model` from timm's tensors."""
    mobilevit_weights.load(model, tensors, _NAMES, timm_blocks.block)
