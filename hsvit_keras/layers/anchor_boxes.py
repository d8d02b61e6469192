"""Boxes as differences from anchors, as RetinaNet and the R-CNN family predict them.

Faster R-CNN, https://arxiv.org/abs/1506.01497, equation 2.
"""

import keras
from keras import ops

# What differences are multiplied by: of the center, of width and height.
VARIANCES = (0.1, 0.2)


@keras.saving.register_keras_serializable("hsvit_keras")
class AnchorBoxes(keras.layers.Layer):
    """Moves and scales each anchor. The anchors are weights that are not trained.

    Args:
        num_anchors: int.
        image_shape: (height, width) in pixels, for training.

    Call arguments:
        differences: Tensor `(batch, anchors, 4)` of center y, center x, height and width.

    Returns:
        Tensor `(batch, anchors, 4)`: center x, center y, width and height as shares of the image.
    """

    def __init__(self, num_anchors, image_shape, **kwargs):
        super().__init__(**{"dtype": "float32", **kwargs})
        self.num_anchors, self.image_shape = num_anchors, tuple(image_shape)

    def build(self, input_shape):
        self.anchors = self.add_weight(
            shape=(self.num_anchors, 4), initializer="zeros", trainable=False, name="anchors"
        )

    def call(self, differences):
        anchors = ops.convert_to_tensor(self.anchors)
        sides = anchors[:, 2:]
        dy, dx, dh, dw = (differences[..., i : i + 1] for i in range(4))
        centers = anchors[:, :2] + VARIANCES[0] * ops.concatenate([dx, dy], axis=-1) * sides
        return ops.concatenate(
            [centers, sides * ops.exp(VARIANCES[1] * ops.concatenate([dw, dh], axis=-1))], -1
        )

    def differences(self, boxes):
        """What `call` makes these boxes of: Tensor `(batch, anchors, 4)`."""
        anchors = ops.convert_to_tensor(self.anchors)
        sides = anchors[:, 2:]
        dx, dy = ((boxes[..., i] - anchors[:, i]) / sides[:, i] / VARIANCES[0] for i in (0, 1))
        dw, dh = (ops.log(boxes[..., i + 2] / sides[:, i]) / VARIANCES[1] for i in (0, 1))
        return ops.stack([dy, dx, dh, dw], axis=-1)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 4)

    def get_config(self):
        return {**super().get_config(), "num_anchors": self.num_anchors, "image_shape": self.image_shape}
