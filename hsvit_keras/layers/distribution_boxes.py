"""Boxes of YOLOv8: distances from a place to the four sides, each a distribution over whole strides.

Generalized focal loss, https://arxiv.org/abs/2006.04388, section 3.2.
"""

import keras
import numpy as np
from keras import ops

BINS = 16


@keras.saving.register_keras_serializable("hsvit_keras")
class DistributionBoxes(keras.layers.Layer):
    """The expected distances to the left, top, right and bottom side of each place, as a box.

    Args:
        image_shape: (height, width) in pixels.
        strides: sequence of int, pixels between the places of each map.

    Call arguments:
        distributions: Tensor of logits `(batch, places, 64)`, 16 for each side.

    Returns:
        Tensor `(batch, places, 4)`: center x, center y, width and height as shares of the image.
    """

    def __init__(self, image_shape, strides=(8, 16, 32), **kwargs):
        super().__init__(**{"dtype": "float32", **kwargs})
        self.image_shape, self.strides = tuple(image_shape), tuple(strides)

    def places(self):
        """The centers (places, 2), x and y in pixels, and the strides (places, 1): float32 arrays."""
        height, width = self.image_shape
        centers = []
        for stride in self.strides:
            rows, columns = np.meshgrid(
                np.arange(0, height, stride), np.arange(0, width, stride), indexing="ij"
            )
            center = np.stack([columns.ravel(), rows.ravel()], -1) + stride / 2
            centers.append(np.concatenate([center, np.full((len(center), 1), stride)], -1))
        found = np.concatenate(centers).astype("float32")
        return found[:, :2], found[:, 2:]

    def call(self, distributions):
        places, strides = self.places()
        count = len(places)
        chances = ops.softmax(ops.reshape(distributions, (-1, 4 * count, BINS)), axis=-1)
        distances = ops.matmul(chances, np.arange(BINS, dtype="float32")[:, np.newaxis])
        size = np.array(self.image_shape[::-1], "float32")
        distances = ops.reshape(distances, (-1, count, 4)) * (strides / np.tile(size, 2))
        before, after = distances[..., :2], distances[..., 2:]
        return ops.concatenate([places / size + (after - before) / 2, before + after], axis=-1)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 4)

    def get_config(self):
        return {**super().get_config(), "image_shape": self.image_shape, "strides": self.strides}
