"""Dropout of whole attention groups, in front of a mean over groups."""

import keras
from keras import ops

from hsvit_runtime.errors import InputError


@keras.saving.register_keras_serializable("hsvit_keras")
class GroupDropout(keras.layers.Layer):
    """In training, keeps a random, never empty subset of each image's groups.

    The others become zero, and the kept ones are scaled so that the mean over all groups, taken
    afterwards, is the mean over the kept ones, as in a model that has only these groups. So every
    subset is trained. In inference the layer does nothing.

    Args:
        rate: float in [0, 1), probability of dropping a group; one is always kept.
        seed: int, or None for other random numbers in each run.

    Call arguments:
        tokens: Tensor of shape `(batch, groups, dim)`.
        training: bool, whether to drop groups.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: `rate` is not in [0, 1).

    References:
        - [HSViT](https://arxiv.org/abs/2404.05196), section 3.3: groups are independent of each other
    """

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise InputError(f"rate has to be in [0, 1); received rate={rate}")
        self.rate = rate
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def call(self, tokens, training=False):
        if not training:
            return tokens
        batch, groups, _ = ops.shape(tokens)
        noise = keras.random.uniform((batch, groups, 1), dtype="float32", seed=self.seed_generator)
        # The group with the largest number stays, whatever the rate.
        threshold = ops.minimum(self.rate, ops.max(noise, axis=1, keepdims=True))
        kept = ops.cast(noise >= threshold, "float32")
        share = ops.mean(kept, axis=1, keepdims=True)
        return tokens * ops.cast(kept / share, self.compute_dtype)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}
