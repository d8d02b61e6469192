"""Attention in linear time: the matrix of weights is built from a few landmarks."""

import keras
import numpy as np
from keras import ops

from hsvit_keras.layers.heads import check_heads, join_heads, split_heads, transposed
from hsvit_keras.layers.token_range import last_tokens
from hsvit_runtime.errors import InputError


@keras.saving.register_keras_serializable("hsvit_keras")
class NystromAttention(keras.layers.Layer):
    """`softmax(q k'^T) pinv(softmax(q' k'^T)) softmax(q' k^T) v`, with `q'`, `k'` means of neighbours.

    Zeros are put in front of the tokens until landmarks divide their number, and are not masked. The
    pseudo-inverse is found by iteration; the authors scale its start by a maximum over the whole batch,
    so that an image's output depends on the others; by default it is taken over each head.

    Args:
        num_heads: int.
        num_landmarks: int.
        iterations: int, of the pseudo-inverse.
        residual_kernel: int, odd length of a convolution of the values along the tokens, one a head, whose
            result is added; 0 for none.
        batch_maximum: bool, whether to scale by the maximum over the batch, as the authors do.

    Call arguments:
        query: Tensor of shape `(batch, tokens, dim)`.
        key: Tensor of the same shape.
        value: Tensor of the same shape.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: `num_heads` does not divide `dim`, or there are more landmarks than tokens.

    References:
        - [Nystromformer](https://arxiv.org/abs/2102.03902), algorithm 1
    """

    def __init__(
        self, num_heads, num_landmarks=64, iterations=6, residual_kernel=33, batch_maximum=False, **kwargs
    ):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.num_landmarks = num_landmarks
        self.iterations = iterations
        self.residual_kernel = residual_kernel
        self.batch_maximum = batch_maximum

    def build(self, query_shape, key_shape, value_shape):
        check_heads(self.num_heads, query_shape[-1])
        if query_shape[1] < self.num_landmarks:
            raise InputError(
                f"there have to be as many tokens as landmarks; "
                f"received num_landmarks={self.num_landmarks}, {query_shape[1]} tokens"
            )
        if self.residual_kernel:
            self.residual = self.add_weight(
                shape=(self.residual_kernel, 1, self.num_heads, 1), name="residual"
            )
        self.built = True

    def call(self, query, key, value):
        padding = -query.shape[1] % self.num_landmarks
        query, key, value = (
            split_heads(ops.pad(x, ((0, 0), (padding, 0), (0, 0))), self.num_heads)
            for x in (query, key, value)
        )
        query = query * query.shape[-1] ** -0.5
        query_marks, key_marks = self._landmarks(query), self._landmarks(key)
        to_marks = ops.softmax(ops.matmul(query, transposed(key_marks)))
        between = ops.softmax(ops.matmul(query_marks, transposed(key_marks)))
        from_marks = ops.softmax(ops.matmul(query_marks, transposed(key)))
        mixed = ops.matmul(ops.matmul(to_marks, self._inverse(between)), ops.matmul(from_marks, value))
        if self.residual_kernel:
            mixed = mixed + self._convolved(value)
        _, heads, count, size = mixed.shape
        return last_tokens(join_heads(mixed, (None, count, heads * size)), count - padding)

    def _landmarks(self, heads):
        _, count, tokens, size = heads.shape
        neighbours = tokens // self.num_landmarks
        heads = ops.reshape(heads, (-1, count * self.num_landmarks, neighbours, size))
        return ops.reshape(ops.mean(heads, axis=2), (-1, count, self.num_landmarks, size))

    def _inverse(self, matrix):
        """Equation 14: third-order iteration from a scaled transpose."""
        rows, columns = (ops.sum(ops.abs(matrix), axis=axis, keepdims=True) for axis in (-1, -2))
        axes = (0, 1, 2, 3) if self.batch_maximum else (2, 3)
        scale = ops.max(rows, axis=axes, keepdims=True) * ops.max(columns, axis=axes, keepdims=True)
        inverse = transposed(matrix) / scale
        identity = ops.convert_to_tensor(
            np.eye(self.num_landmarks), matrix.dtype
        )  # ops.eye is not accelerated
        for _ in range(self.iterations):
            product = ops.matmul(matrix, inverse)
            inner = 15 * identity - ops.matmul(product, 7 * identity - product)
            inverse = 0.25 * ops.matmul(inverse, 13 * identity - ops.matmul(product, inner))
        return inverse

    def _convolved(self, value):
        """Each head's values along the tokens, as a depthwise convolution with heads as channels."""
        maps = ops.transpose(value, (0, 2, 3, 1))
        maps = ops.depthwise_conv(maps, self.residual, padding="same")
        return ops.transpose(maps, (0, 3, 1, 2))

    def compute_output_shape(self, query_shape, key_shape, value_shape):
        return query_shape

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "num_landmarks": self.num_landmarks,
            "iterations": self.iterations,
            "residual_kernel": self.residual_kernel,
            "batch_maximum": self.batch_maximum,
        }
