"""MobileNetV2: Inverted Residuals and Linear Bottlenecks, https://arxiv.org/abs/1801.04381.

A block widens its narrow map, convolves each channel alone and makes the result narrow again, without an
activation behind that; it is added to a map of the same shape.

The variants are the models of the library transformers, which HSViT was compared with: they pad as TensorFlow
does and add 1e-3 to variances. In training, moving statistics have momentum 0.9; theirs, with 0.003, are
almost those of the last batch. torchvision's have `padding="symmetric"` and `batch_norm_epsilon=1e-5`. Not
built on keras.applications, which has one padding and fixed widths.
"""

import keras
from keras import layers

from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model

# Table 2: channels of each stage, its blocks, stride and expansion.
FILTERS = (16, 24, 32, 64, 96, 160, 320)
DEPTHS = (1, 2, 3, 4, 3, 3, 1)
STRIDES = (1, 2, 2, 2, 1, 2, 1)
EXPANSIONS = (1, 6, 6, 6, 6, 6, 6)
STEM_FILTERS, HEAD_FILTERS = 32, 1280
# What all channels are multiplied by. Images and classes are those of Tiny-ImageNet in HSViT's Table 3.
VARIANTS = {"mobilenet_v2_100": 1.0, "mobilenet_v2_140": 1.4}


@keras.saving.register_keras_serializable("hsvit_keras")
class MobileNetV2(ImageModel):
    """Network of inverted residuals, a Functional graph from images to logits.

    | model              | input       | classes | parameters | MACs   |
    | ------------------ | ----------- | ------- | ---------- | ------ |
    | `mobilenet_v2_100` | 64 x 64 x 3 | 200     | 2,480,072  | 24.7 M |
    | `mobilenet_v2_140` | 64 x 64 x 3 | 200     | 4,674,376  | 47.7 M |

    Trainable parameters; multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the map at the end of each stage; `map`, the map behind the last
    convolution; `pooled`, its mean.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        stem_filters: int, channels of the stem.
        filters: sequence of int, channels of each stage's outputs.
        depths: sequence of int, blocks of each stage.
        strides: sequence of int, stride of each stage's first block.
        expansions: sequence of int, how many times wider the blocks of each stage are inside.
        expand_always: bool, whether blocks of expansion 1 have a first convolution of size 1, too.
        residual_in_first_block: bool, whether the first block of all is added to its input, too, where the
            shapes agree; in the published models they do not.
        head_filters: int, channels of the last convolution.
        width_divisor: int; channels inside of blocks are rounded to multiples of it.
        padding: str, of the convolutions of size 3: `"same"`, as TensorFlow, or `"symmetric"`, as PyTorch.
        output_stride: int. Where the map is that many times smaller than the image, strides become 1 and
            the blocks behind them dilated; None for all strides.
        batch_norm_epsilon: float, added to the variance in each batch normalization.
        dropout_rate: float in [0, 1), of the pooled features.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    Example:

    ```python
    model = hsvit_keras.create_model("mobilenet_v2_100", input_shape=(96, 96, 3), num_classes=10)
    logits = model(np.zeros((1, 96, 96, 3), "float32"))  # (1, 10)
    ```

    References:
        - [MobileNetV2](https://arxiv.org/abs/1801.04381), Table 2
        - [HSViT](https://arxiv.org/abs/2404.05196), Table 3
    """

    def __init__(
        self,
        input_shape=(64, 64, 3),
        num_classes=200,
        stem_filters=STEM_FILTERS,
        filters=FILTERS,
        depths=DEPTHS,
        strides=STRIDES,
        expansions=EXPANSIONS,
        expand_always=False,
        residual_in_first_block=False,
        head_filters=HEAD_FILTERS,
        width_divisor=8,
        padding="same",
        output_stride=None,
        batch_norm_epsilon=1e-3,
        dropout_rate=0.2,
        dtype=None,
        name="mobilenet_v2",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_image_shape(input_shape)
        blocks.check_positive(arguments, "num_classes", "stem_filters", "head_filters", "width_divisor")
        if output_stride is not None:
            blocks.check_integer("output_stride", output_stride, 2)
        blocks.check_stages(arguments, "filters", "depths", "strides", "expansions")
        blocks.check_choice("padding", padding, ("same", "symmetric"))
        blocks.check_epsilon("batch_norm_epsilon", batch_norm_epsilon)
        blocks.check_rate("dropout_rate", dropout_rate)

        def convolution(maps, count, kernel_size, stride, name):
            maps = blocks.convolution(maps, count, kernel_size, stride, False, name, padding=padding)
            return blocks.normalized(maps, name, "relu6", batch_norm_epsilon)

        def block(maps, count, stride, dilation, expansion, name):
            hidden_dim = None
            if expansion > 1 or expand_always:
                hidden_dim = blocks.rounded_width(maps.shape[-1] * expansion, width_divisor)
            narrow = blocks.inverted_residual(
                maps, count, hidden_dim, 3, stride, batch_norm_epsilon, "relu6", name, padding, dilation
            )
            first = name == "stage0_block0" and not residual_in_first_block
            if first or stride > 1 or count != maps.shape[-1]:
                return narrow
            return layers.Add(name=f"{name}_add")([maps, narrow])

        def build_features(image):
            maps, features = convolution(image, stem_filters, 3, 2, "stem_conv"), {}
            steps = _strides_and_dilations(strides, depths, output_stride)
            for i, (count, depth, expansion) in enumerate(zip(filters, depths, expansions, strict=True)):
                for j in range(depth):
                    maps = block(maps, count, *next(steps), expansion, f"stage{i}_block{j}")
                features[f"stage{i}"] = maps
            features["map"] = convolution(maps, head_filters, 1, 1, "head_conv")
            features["pooled"] = layers.GlobalAveragePooling2D(name="mean_map")(features["map"])
            return features

        super().__init__(build_features, blocks.classifier(num_classes, dropout_rate), arguments, **kwargs)


def _strides_and_dilations(strides, depths, output_stride):
    """Yields both for each block; the whole stride, the stem's included, ends at `output_stride`."""
    whole, dilation = 2, 1
    for stride, depth in zip(strides, depths, strict=True):
        for step in (stride, *[1] * (depth - 1)):
            if output_stride is None or whole < output_stride:
                yield step, 1
                whole *= step
            else:
                yield 1, dilation
                dilation *= step


def scaled_widths(multiplier):
    """Channels of the stem, of each stage and of the last convolution, which is never narrower than 1280."""
    stem, *filters = (blocks.rounded_width(width * multiplier) for width in (STEM_FILTERS, *FILTERS))
    head_filters = blocks.rounded_width(HEAD_FILTERS * max(1.0, multiplier))
    return {"stem_filters": stem, "filters": tuple(filters), "head_filters": head_filters}


for _name, _multiplier in VARIANTS.items():
    register_model(
        _name,
        MobileNetV2,
        input_shape=(64, 64, 3),
        num_classes=200,
        arguments=scaled_widths(_multiplier),
    )
