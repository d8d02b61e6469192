"""Tokens mixed by a discrete Fourier transform, without weights."""

import keras
import numpy as np
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class FourierMixing(keras.layers.Layer):
    """The real part of the unscaled Fourier transform over the given axes of the tokens or maps.

    Computed as products with constant cosines and sines, since phones have no FFT. The transform over
    several axes is separable: cosine and sine of each axis are applied in turn, and the real part of
    the product of complex numbers is kept.

    Call arguments:
        inputs: Tensor of shape `(batch, tokens, dim)` or `(batch, height, width, channels)`.

    Returns:
        Tensor of the same shape.

    References:
        - [FNet](https://arxiv.org/abs/2105.03824), section 3.2
    """

    def call(self, inputs):
        real, imaginary = inputs, None
        for axis in range(1, len(inputs.shape)):
            real, imaginary = _transform(real, imaginary, axis)
        return real

    def compute_output_shape(self, input_shape):
        return input_shape


def _transform(real, imaginary, axis):
    """One axis of the transform: `(a + ib)(C - iS)`."""
    size = real.shape[axis]
    angles = 2 * np.pi / size * (np.outer(np.arange(size), np.arange(size)) % size)
    cosine, sine = (ops.convert_to_tensor(wave(angles), real.dtype) for wave in (np.cos, np.sin))

    def along(x, matrix):
        return _matmul_along(x, matrix, axis)

    if imaginary is None:
        return along(real, cosine), -along(real, sine)
    return (
        along(real, cosine) + along(imaginary, sine),
        along(imaginary, cosine) - along(real, sine),
    )


def _matmul_along(x, matrix, axis):
    """Multiplies one axis of `x` with a symmetric matrix."""
    last = len(x.shape) - 1
    if axis == last:
        return ops.matmul(x, matrix)
    if axis == last - 1:
        return ops.matmul(matrix, x)
    order = [i for i in range(last + 1) if i != axis] + [axis]
    back = np.argsort(order).tolist()
    return ops.transpose(ops.matmul(ops.transpose(x, order), matrix), back)
