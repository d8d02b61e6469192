"""Repeats a weight for each sample of a batch."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class ForEachSample(keras.layers.Layer):
    """Repeats a tensor that is not of any sample, such as a class token, for each sample of a batch.

    Call arguments:
        tensor: Tensor of shape `(1, ...)`.
        samples: Tensor of shape `(batch, ...)`, of which only the number of samples is read.

    Returns:
        Tensor of shape `(batch, ...)`.
    """

    def build(self, tensor_shape, samples_shape):
        self.built = True

    def call(self, tensor, samples):
        return ops.broadcast_to(tensor, (ops.shape(samples)[0], *tensor.shape[1:]))

    def compute_output_shape(self, tensor_shape, samples_shape):
        return (samples_shape[0], *tensor_shape[1:])
