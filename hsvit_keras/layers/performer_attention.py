"""Attention in linear time: the softmax is replaced by a product of random features."""

import math
import random

import keras
import numpy as np
from keras import ops

from hsvit_keras.layers.heads import check_heads, join_heads, split_heads, transposed
from hsvit_keras.layers.local_attention import local_attention
from hsvit_runtime.errors import InputError

_SOFTMAX_EPSILON, _RELU_EPSILON = 1e-4, 1e-3


@keras.saving.register_keras_serializable("hsvit_keras")
class PerformerAttention(keras.layers.Layer):
    """`features(query) (features(key)^T value)`, divided by `features(query) . sum of features(key)`.

    The random features are drawn once and kept. For the softmax kernel the largest exponent of the keys
    is subtracted first, which cancels except for a small constant. The authors take it over the whole
    batch, so that an image's output depends on the others; by default it is taken over each image.

    Args:
        num_heads: int.
        num_features: int, random features of a head; `int(d * ln(d))` for heads of size `d` by default.
        kernel: `"softmax"` or `"relu"`.
        local_heads: int, how many heads, the last ones, use softmax attention within windows instead.
        window_size: int, tokens of such a window.
        batch_maximum: bool, whether to take the maximum of the keys over the batch, as the authors do.

    Call arguments:
        query: Tensor of shape `(batch, queries, dim)`.
        key: Tensor of shape `(batch, tokens, dim)`.
        value: Tensor of shape `(batch, tokens, dim)`.

    Returns:
        Tensor of shape `(batch, queries, dim)`.

    Raises:
        ValueError: `num_heads` does not divide `dim`, or there is no such kernel.

    References:
        - [Rethinking Attention with Performers](https://arxiv.org/abs/2009.14794), sections 2.2 and 2.3
    """

    def __init__(
        self,
        num_heads,
        num_features=None,
        kernel="softmax",
        local_heads=0,
        window_size=256,
        batch_maximum=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if not 0 <= local_heads < num_heads:
            raise InputError(
                f"local_heads has to leave at least one of the heads; "
                f"received local_heads={local_heads}, num_heads={num_heads}"
            )
        if kernel not in ("softmax", "relu"):
            raise InputError(f"kernel has to be 'softmax' or 'relu'; received kernel={kernel!r}")
        self.num_heads = num_heads
        self.num_features = num_features
        self.kernel = kernel
        self.local_heads = local_heads
        self.window_size = window_size
        self.batch_maximum = batch_maximum

    def build(self, query_shape, key_shape, value_shape):
        check_heads(self.num_heads, query_shape[-1])
        size = query_shape[-1] // self.num_heads
        features = self.num_features or max(1, int(size * math.log(size)))
        self.projection = self.add_weight(
            shape=(features, size), initializer=OrthogonalRows(), trainable=False, name="projection"
        )
        self.built = True

    def call(self, query, key, value):
        heads = [split_heads(x, self.num_heads) for x in (query, key, value)]
        if not self.local_heads:
            return join_heads(self._linear_attention(*heads), query.shape)
        cut = self.num_heads - self.local_heads
        mixed = self._linear_attention(*(x[:, :cut] for x in heads))
        local = local_attention(*(x[:, cut:] for x in heads), self.window_size)
        return join_heads(ops.concatenate([mixed, local], axis=1), query.shape)

    def _linear_attention(self, query, key, value):
        query, key = self._features(query, axes=-1), self._features(key, axes=self._key_axes())
        mixed = ops.matmul(query, ops.matmul(transposed(key), value))
        return mixed / ops.matmul(query, ops.expand_dims(ops.sum(key, axis=-2), -1))

    def _key_axes(self):
        return (0, 1, 2, 3) if self.batch_maximum else (1, 2, 3)

    def _features(self, heads, axes):
        scaled = heads * heads.shape[-1] ** -0.25
        projected = ops.matmul(scaled, ops.transpose(self.projection))
        if self.kernel == "relu":
            return ops.relu(projected) + _RELU_EPSILON
        length = 0.5 * ops.sum(scaled * scaled, axis=-1, keepdims=True)
        largest = ops.stop_gradient(ops.max(projected, axis=axes, keepdims=True))
        ratio = projected.shape[-1] ** -0.5
        return ratio * (ops.exp(projected - length - largest) + _SOFTMAX_EPSILON)

    def compute_output_shape(self, query_shape, key_shape, value_shape):
        return query_shape

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "num_features": self.num_features,
            "kernel": self.kernel,
            "local_heads": self.local_heads,
            "window_size": self.window_size,
            "batch_maximum": self.batch_maximum,
        }


@keras.saving.register_keras_serializable("hsvit_keras")
class OrthogonalRows(keras.initializers.Initializer):
    """Gaussian rows, orthogonalized in blocks and scaled to the lengths of other Gaussian rows.

    Args:
        seed: int, or None for a new draw each time.
    """

    def __init__(self, seed=None):
        self.seed = random.randrange(2**31) if seed is None else seed  # as Keras' own initializers do

    def __call__(self, shape, dtype=None):
        rng = np.random.default_rng(self.seed)
        rows, size = shape
        blocks = [np.linalg.qr(rng.normal(size=(size, size)))[0].T for _ in range(-(-rows // size))]
        lengths = np.linalg.norm(rng.normal(size=(rows, size)), axis=1, keepdims=True)
        return ops.convert_to_tensor(np.concatenate(blocks)[:rows] * lengths, dtype)

    def get_config(self):
        return {"seed": self.seed}
