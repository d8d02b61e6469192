"""Boxes relative to references, as logits; and references that do not learn."""

import math

import keras
from keras import ops

_LARGEST = math.log(1e5 - 1)  # logit of the last number below 1 that a reference may be


@keras.saving.register_keras_serializable("hsvit_keras")
class BoxLogits(keras.layers.Layer):
    """Adds the logits of references to offsets, in float32.

    Their sigmoid is the box: `sigmoid(offset + inverse sigmoid(reference))`, without the detour by the
    sigmoid of the reference and back.

    Call arguments:
        offsets: Tensor of shape `(batch, queries, 4)`, of center x, y, width and height.
        reference: Tensor of shape `(batch, queries, 2)`, logits of a center, or `(batch, queries, 4)`, those
            of a box.

    Returns:
        float32 Tensor of shape `(batch, queries, 4)`.

    References:
        - [Deformable DETR](https://arxiv.org/abs/2010.04159), sections 4.1 and A.4
    """

    def __init__(self, **kwargs):
        super().__init__(**{"dtype": "float32", **kwargs})

    def build(self, offsets_shape, reference_shape):
        self.built = True

    def call(self, offsets, reference):
        reference = ops.clip(reference, -_LARGEST, _LARGEST)
        missing = offsets.shape[-1] - reference.shape[-1]
        return offsets + (ops.pad(reference, ((0, 0), (0, 0), (0, missing))) if missing else reference)

    def compute_output_shape(self, offsets_shape, reference_shape):
        return offsets_shape


@keras.saving.register_keras_serializable("hsvit_keras")
class StopGradient(keras.layers.Layer):
    """Passes values and no gradients.

    Call arguments:
        inputs: Tensor of any shape.

    Returns:
        The same tensor.
    """

    def call(self, inputs):
        return ops.stop_gradient(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape
