"""ResNet: Deep Residual Learning for Image Recognition, https://arxiv.org/abs/1512.03385.

A stem that makes the map four times smaller, then stages of residual blocks: two convolutions of size 3
(basic), or one of size 3 between two of size 1, with a quarter of the channels (bottleneck).

Differs from the paper as all later programs do: a bottleneck has its stride in the convolution of size 3;
`downsample_in_bottleneck=True` moves it to the first one. Not built on keras.applications, whose
convolutions have biases and no basic blocks.
"""

import keras
from keras import layers

from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model

# Table 1: blocks of each stage, their channels, whether they are bottlenecks. Images and classes are those of
# Tiny-ImageNet in HSViT's Table 3.
VARIANTS = {
    "resnet18": ((2, 2, 2, 2), (64, 128, 256, 512), False),
    "resnet50": ((3, 4, 6, 3), (256, 512, 1024, 2048), True),
}
REDUCTION = 4  # channels of a bottleneck's outputs over those inside


@keras.saving.register_keras_serializable("hsvit_keras")
class ResNet(ImageModel):
    """Residual network, a Functional graph from images to logits.

    | model      | input       | classes | parameters | MACs    |
    | ---------- | ----------- | ------- | ---------- | ------- |
    | `resnet18` | 64 x 64 x 3 | 200     | 11,279,112 | 148.1 M |
    | `resnet50` | 64 x 64 x 3 | 200     | 23,917,832 | 334.1 M |

    Trainable parameters; multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the map at the end of each stage; `pooled`, the mean of the last.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        stem_filters: int, channels of the stem.
        filters: sequence of int, channels of each stage's outputs; with bottlenecks at least 4.
        depths: sequence of int, blocks of each stage.
        strides: sequence of int, stride of each stage's first block.
        bottleneck: bool, whether blocks are bottlenecks.
        downsample_in_bottleneck: bool, whether the stride of a bottleneck is that of its first convolution.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    Example:

    ```python
    model = hsvit_keras.create_model("resnet18", input_shape=(32, 32, 3), num_classes=10)
    logits = model(np.zeros((1, 32, 32, 3), "float32"))  # (1, 10)
    ```

    References:
        - [ResNet](https://arxiv.org/abs/1512.03385), Table 1
        - [HSViT](https://arxiv.org/abs/2404.05196), Table 3
    """

    def __init__(
        self,
        input_shape=(64, 64, 3),
        num_classes=200,
        stem_filters=64,
        filters=(64, 128, 256, 512),
        depths=(2, 2, 2, 2),
        strides=(1, 2, 2, 2),
        bottleneck=False,
        downsample_in_bottleneck=False,
        dtype=None,
        name="resnet",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_image_shape(input_shape)
        blocks.check_positive(arguments, "num_classes", "stem_filters")
        blocks.check_stages(arguments, "filters", "depths", "strides")
        if bottleneck:
            for count in filters:
                blocks.check_integer("each number of filters", count, REDUCTION)

        def build_features(image):
            maps = _convolution(image, stem_filters, 7, 2, "relu", "stem_conv")
            maps, features = blocks.max_pooling(maps, 3, 2, "stem_pool"), {}
            for i, (count, depth, stride) in enumerate(zip(filters, depths, strides, strict=True)):
                for j in range(depth):
                    units = _units(count, 1 if j else stride, bottleneck, downsample_in_bottleneck)
                    maps = _residual_block(maps, units, f"stage{i}_block{j}")
                features[f"stage{i}"] = maps
            return {**features, "pooled": layers.GlobalAveragePooling2D(name="mean_map")(maps)}

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


def _units(filters, stride, bottleneck, downsample_in_bottleneck):
    """Channels, kernel size and stride of each convolution of a block."""
    if not bottleneck:
        return (filters, 3, stride), (filters, 3, 1)
    inner = filters // REDUCTION
    first, second = (stride, 1) if downsample_in_bottleneck else (1, stride)
    return (inner, 1, first), (inner, 3, second), (filters, 1, 1)


def _residual_block(maps, units, name):
    """ReLU of the input plus its convolutions; the input is projected where the shapes differ."""
    branch, last = maps, len(units) - 1
    for i, unit in enumerate(units):
        branch = _convolution(branch, *unit, None if i == last else "relu", f"{name}_conv{i}")
    stride = max(stride for _, _, stride in units)
    if stride > 1 or branch.shape[-1] != maps.shape[-1]:
        maps = _convolution(maps, branch.shape[-1], 1, stride, None, f"{name}_shortcut")
    return layers.ReLU(name=f"{name}_relu")(layers.Add(name=f"{name}_add")([maps, branch]))


def _convolution(maps, filters, kernel_size, stride, activation, name):
    maps = blocks.convolution(maps, filters, kernel_size, stride, False, name)
    return blocks.normalized(maps, name, activation)


def _register(name, depths, filters, bottleneck):
    arguments = {"depths": depths, "filters": filters, "bottleneck": bottleneck}
    register_model(name, ResNet, input_shape=(64, 64, 3), num_classes=200, arguments=arguments)


for _name, _variant in VARIANTS.items():
    _register(_name, *_variant)
