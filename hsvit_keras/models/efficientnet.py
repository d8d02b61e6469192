"""EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks, https://arxiv.org/abs/1905.11946.

Inverted residuals with SiLU whose channels are scaled by a gate, computed from their means (squeeze and
excitation); wider and deeper ones by two factors.

The variants are the models of the library transformers, which HSViT was compared with. They pad one less in
front, whatever the size of the map, but for `symmetric_blocks`. The authors' pad by size (`padding="same"`);
torchvision's have `padding="symmetric"` and `batch_norm_epsilon=1e-5`. In training, branches are dropped
element by element, and moving statistics have momentum 0.9; theirs, with 0.01, are almost those of the last
batch. Not built on keras.applications, which has one padding and a normalization of its own.
"""

import math

import keras
from keras import layers

from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model

# Table 1: channels of each stage, its blocks, kernel, stride and expansion.
FILTERS = (16, 24, 40, 80, 112, 192, 320)
DEPTHS = (1, 2, 2, 3, 3, 4, 1)
KERNEL_SIZES = (3, 3, 5, 3, 5, 5, 3)
STRIDES = (1, 2, 2, 2, 1, 2, 1)
EXPANSIONS = (1, 6, 6, 6, 6, 6, 6)
STEM_FILTERS, HEAD_FILTERS = 32, 1280
# Factors of channels and of blocks, dropout of the head, blocks with symmetric padding. Images and classes
# are those of Tiny-ImageNet in HSViT's Table 3.
VARIANTS = {"efficientnet_b0": (1.0, 1.0, 0.2, ()), "efficientnet_b3": (1.2, 1.4, 0.3, (5, 18))}


@keras.saving.register_keras_serializable("hsvit_keras")
class EfficientNet(ImageModel):
    """Network of inverted residuals with squeeze and excitation, a Functional graph from images to logits.

    | model             | input       | classes | parameters | MACs   |
    | ----------------- | ----------- | ------- | ---------- | ------ |
    | `efficientnet_b0` | 64 x 64 x 3 | 200     | 4,263,748  | 32.2 M |
    | `efficientnet_b3` | 64 x 64 x 3 | 200     | 11,003,632 | 80.5 M |

    Trainable parameters; multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the map at the end of each stage; `map`, the map behind the last
    convolution; `pooled`, its mean.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        stem_filters: int, channels of the stem.
        filters: sequence of int, channels of each stage's outputs.
        depths: sequence of int, blocks of each stage.
        kernel_sizes: sequence of int, odd; of each stage's depthwise convolutions.
        strides: sequence of int, 1 or 2, of each stage's first block.
        expansions: sequence of int, how many times wider the blocks of each stage are inside.
        head_filters: int, channels of the last convolution.
        squeeze_ratio: float, channels inside of a gate over those of the block's input.
        padding: str, of convolutions with stride 2: `"end"`, one less in front than behind, `"same"`, as
            TensorFlow, which does that for even sides, or `"symmetric"`, as PyTorch.
        symmetric_blocks: sequence of int, numbers of blocks that pad symmetrically in any case.
        residual_in_first_blocks: bool, whether the first block of a stage is added to its input, too, where
            the shapes agree; in the published models they do not.
        batch_norm_epsilon: float, added to the variance in each batch normalization.
        dropout_rate: float in [0, 1), of the pooled features.
        drop_connect_rate: float in [0, 1), dropout of the branch that the block behind the last would have;
            it grows linearly from 0.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit, or the image is too small for the strides.

    Example:

    ```python
    model = hsvit_keras.create_model("efficientnet_b0", input_shape=(96, 96, 3), num_classes=10)
    logits = model(np.zeros((1, 96, 96, 3), "float32"))  # (1, 10)
    ```

    References:
        - [EfficientNet](https://arxiv.org/abs/1905.11946), Table 1 and section 3.3
        - [HSViT](https://arxiv.org/abs/2404.05196), Table 3
    """

    def __init__(
        self,
        input_shape=(64, 64, 3),
        num_classes=200,
        stem_filters=STEM_FILTERS,
        filters=FILTERS,
        depths=DEPTHS,
        kernel_sizes=KERNEL_SIZES,
        strides=STRIDES,
        expansions=EXPANSIONS,
        head_filters=HEAD_FILTERS,
        squeeze_ratio=0.25,
        padding="end",
        symmetric_blocks=(),
        residual_in_first_blocks=False,
        batch_norm_epsilon=1e-3,
        dropout_rate=0.2,
        drop_connect_rate=0.2,
        dtype=None,
        name="efficientnet",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        _check_arguments(arguments)

        def convolution(maps, count, kernel_size, stride, name):
            maps = blocks.convolution(maps, count, kernel_size, stride, False, name, padding=padding)
            return blocks.normalized(maps, name, "silu", batch_norm_epsilon)

        def block(maps, count, kernel_size, stride, expansion, number, name):
            channels = maps.shape[-1]
            squeezed = max(1, int(squeeze_ratio * channels))
            hidden_dim = expansion * channels if expansion > 1 else None
            return blocks.inverted_residual(
                maps, count, hidden_dim, kernel_size, stride, batch_norm_epsilon, "silu", name,
                padding="symmetric" if number in symmetric_blocks else padding,
                gate=lambda hidden: _gated(hidden, squeezed, f"{name}_gate"),
            )  # fmt: skip

        def build_features(image):
            maps, features, number = convolution(image, stem_filters, 3, 2, "stem_conv"), {}, 0
            stages = zip(filters, kernel_sizes, strides, expansions, depths, strict=True)
            for i, (count, kernel_size, stride, expansion, depth) in enumerate(stages):
                for j in range(depth):
                    name, step = f"stage{i}_block{j}", 1 if j else stride
                    branch = block(maps, count, kernel_size, step, expansion, number, name)
                    if j or (residual_in_first_blocks and step == 1 and count == maps.shape[-1]):
                        rate = drop_connect_rate * number / sum(depths)
                        branch = layers.Dropout(rate, name=f"{name}_dropout")(branch)
                        branch = layers.Add(name=f"{name}_add")([maps, branch])
                    maps, number = branch, number + 1
                features[f"stage{i}"] = maps
            features["map"] = convolution(maps, head_filters, 1, 1, "head_conv")
            features["pooled"] = layers.GlobalAveragePooling2D(name="mean_map")(features["map"])
            return features

        super().__init__(build_features, blocks.classifier(num_classes, dropout_rate), arguments, **kwargs)


def _gated(maps, squeezed, name):
    """Squeeze and excitation: each channel times a number of 0 to 1, computed from the means of all."""
    gate = layers.GlobalAveragePooling2D(keepdims=True, name=f"{name}_mean")(maps)
    gate = layers.Conv2D(squeezed, 1, name=f"{name}_squeeze")(gate)
    gate = layers.Activation("silu", name=f"{name}_squeeze_silu")(gate)
    gate = layers.Conv2D(maps.shape[-1], 1, name=f"{name}_excite")(gate)
    gate = layers.Activation("sigmoid", name=f"{name}_excite_sigmoid")(gate)
    return layers.Multiply(name=f"{name}_scale")([maps, gate])


def _check_arguments(arguments):
    blocks.check_image_shape(arguments["input_shape"])
    blocks.check_positive(arguments, "num_classes", "stem_filters", "head_filters")
    blocks.check_stages(arguments, "filters", "depths", "kernel_sizes", "strides", "expansions")
    for kernel_size in arguments["kernel_sizes"]:
        blocks.check_odd("each number of kernel_sizes", kernel_size)
    for stride in arguments["strides"]:
        blocks.check_choice("each number of strides", stride, (1, 2))
    blocks.check_choice("padding", arguments["padding"], ("end", "same", "symmetric"))
    for number in arguments["symmetric_blocks"]:
        blocks.check_choice("each of symmetric_blocks", number, range(sum(arguments["depths"])))
    blocks.check_epsilon("batch_norm_epsilon", arguments["batch_norm_epsilon"])
    blocks.check_epsilon("squeeze_ratio", arguments["squeeze_ratio"])
    blocks.check_rate("dropout_rate", arguments["dropout_rate"])
    blocks.check_rate("drop_connect_rate", arguments["drop_connect_rate"])


def scaled(width_factor, depth_factor):
    """Channels and blocks of a wider and deeper network."""
    stem, *filters, head_filters = (
        blocks.rounded_width(width * width_factor) for width in (STEM_FILTERS, *FILTERS, HEAD_FILTERS)
    )
    depths = tuple(math.ceil(depth * depth_factor) for depth in DEPTHS)
    return {"stem_filters": stem, "filters": tuple(filters), "head_filters": head_filters, "depths": depths}


def _register(name, width_factor, depth_factor, dropout_rate, symmetric_blocks):
    arguments = {"dropout_rate": dropout_rate, "symmetric_blocks": symmetric_blocks}
    register_model(
        name,
        EfficientNet,
        input_shape=(64, 64, 3),
        num_classes=200,
        arguments=scaled(width_factor, depth_factor) | arguments,
    )


for _name, _variant in VARIANTS.items():
    _register(_name, *_variant)
