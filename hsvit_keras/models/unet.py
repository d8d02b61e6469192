"""U-Net: Convolutional Networks for Biomedical Image Segmentation, https://arxiv.org/abs/1505.04597.

An encoder halves the map from stage to stage; a decoder doubles it again and sees, at each resolution, the
encoder's map of that resolution, too.

Differs from the paper: convolutions are padded, so that the logits have the size of the image; each is
followed by batch normalization; up-convolutions are nearest-neighbour upsampling and a 3 x 3 convolution,
which makes no checkerboard pattern.
"""

import keras
from keras import layers

from hsvit_keras.layers import NearestUpsampling
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError

# Ours, for demonstrations and tests: filters of each stage.
VARIANTS = {"unet_tiny": (8, 16, 32)}


@keras.saving.register_keras_serializable("hsvit_keras")
class UNet(ImageModel):
    """U-Net, a Functional graph from images to a logit of each class for each pixel.

    | model       | input       | classes | parameters | MACs   |
    | ----------- | ----------- | ------- | ---------- | ------ |
    | `unet_tiny` | 32 x 32 x 1 | 11      | 32,795     | 8.4 M  |

    Trainable parameters; multiply-adds are those of the mobile artifact.

    Features: `stage0`, `stage1`, ..., the map of each encoder stage, half as high and wide as the one before;
    `up0`, `up1`, ..., the map of the decoder with the resolution of the encoder stage of the same number. The
    head reads `up0`.

    Args:
        input_shape: (height, width, channels) in pixels; each pooling has to halve height and width.
        num_classes: int, logits of a pixel.
        filters: sequence of int, kernels of each encoder stage.
        head: str, `"segmentation"`, or None for the features.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    Example:

    ```python
    model = hsvit_keras.create_model("unet_tiny")
    logits = model(np.zeros((1, 32, 32, 1), "float32"))  # (1, 32, 32, 11)
    ```

    References:
        - [U-Net](https://arxiv.org/abs/1505.04597), section 2
    """

    task = "segmentation"

    def __init__(
        self,
        input_shape=(32, 32, 1),
        num_classes=11,
        filters=(8, 16, 32),
        head="segmentation",
        dtype=None,
        name="unet",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        _check_arguments(arguments)

        def build_features(image):
            features, maps = {}, image
            for i, count in enumerate(filters):
                if i:
                    maps = layers.MaxPooling2D(name=f"stage{i}_pool")(maps)
                maps = _two_convolutions(maps, count, f"stage{i}")
                features[f"stage{i}"] = maps
            for i in reversed(range(len(filters) - 1)):
                name = f"up{i}"
                maps = NearestUpsampling(name=f"{name}_upsampling")(maps)
                maps = _convolution(maps, filters[i], f"{name}_narrow")
                maps = layers.Concatenate(name=f"{name}_join")([features[f"stage{i}"], maps])
                maps = _two_convolutions(maps, filters[i], name)
                features[name] = maps
            return features

        def build_head(features):
            return layers.Conv2D(num_classes, 1, name="head")(features["up0"])

        super().__init__(build_features, build_head, arguments, head=head, **kwargs)


def _two_convolutions(maps, filters, name):
    for i in range(2):
        maps = _convolution(maps, filters, f"{name}_conv{i}")
    return maps


def _convolution(maps, filters, name):
    maps = layers.Conv2D(filters, 3, padding="same", use_bias=False, name=name)(maps)
    maps = layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=f"{name}_norm")(maps)
    return layers.ReLU(name=f"{name}_relu")(maps)


def _check_arguments(arguments):
    shape, filters = blocks.check_image_shape(arguments["input_shape"]), arguments["filters"]
    blocks.check_positive(arguments, "num_classes")
    blocks.check_stages(arguments, "filters")
    if len(filters) < 2:
        raise InputError(f"a U-Net needs at least 2 stages; received filters={filters}")
    reduction = 2 ** (len(filters) - 1)
    if shape[0] % reduction or shape[1] % reduction:
        raise InputError(
            f"{len(filters)} stages need height and width that {reduction} divides; "
            f"received input_shape={shape}, filters={filters}"
        )


for _name, _filters in VARIANTS.items():
    register_model(_name, UNet, input_shape=(32, 32, 1), num_classes=11, arguments={"filters": _filters})
