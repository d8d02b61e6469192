"""FNet in two dimensions, of the Vision X-formers' programs, https://arxiv.org/abs/2107.02239.

Feature maps are mixed by a Fourier transform over rows, columns and channels. It stands in the authors'
repository; no table of the paper has it.
"""

import keras
from keras import layers

from hsvit_keras.layers import FourierMixing
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model


@keras.saving.register_keras_serializable("hsvit_keras")
class FNet2D(ImageModel):
    """Fourier mixing of feature maps, a Functional graph from images to logits.

    Features: `map`, the last map; `pooled`, its mean.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, number of logits.
        hidden_dim: int, channels of the maps.
        depth: int, blocks.
        mlp_ratio: int, hidden width of the feed-forward over `hidden_dim`.
        dropout_rate: float in [0, 1), of the feed-forward.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    References:
        - [FNet](https://arxiv.org/abs/2105.03824), section 3.2
    """

    def __init__(
        self,
        input_shape=(32, 32, 3),
        num_classes=10,
        hidden_dim=128,
        depth=4,
        mlp_ratio=2,
        dropout_rate=0.5,
        dtype=None,
        name="fnet2d",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        blocks.check_image_shape(input_shape)
        blocks.check_positive(arguments, "num_classes", "depth", "mlp_ratio")
        blocks.check_integer("hidden_dim", hidden_dim, 2)
        blocks.check_rate("dropout_rate", dropout_rate)

        def build_features(image):
            maps = image
            for i, filters in enumerate((hidden_dim // 2, hidden_dim)):
                maps = layers.Conv2D(filters, 3, padding="same", name=f"stem_conv{i}")(maps)
            for i in range(depth):
                mixed = FourierMixing(name=f"block{i}_mixing")(maps)
                mixed = layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=f"block{i}_norm")(mixed)
                mixed = blocks.feed_forward(mixed, mlp_ratio * hidden_dim, dropout_rate, f"block{i}_mlp")
                maps = layers.Add(name=f"block{i}_add")([maps, mixed])
            return {"map": maps, "pooled": layers.GlobalAveragePooling2D(name="mean_map")(maps)}

        super().__init__(build_features, blocks.classifier(num_classes), arguments, **kwargs)


register_model("fnet2d", FNet2D, input_shape=(32, 32, 3), num_classes=10, arguments={})
