"""Two sequences of tokens become one."""

import keras
from keras import ops

from hsvit_runtime.errors import InputError


@keras.saving.register_keras_serializable("hsvit_keras")
class JoinTokens(keras.layers.Layer):
    """Puts `back` behind `front`.

    Written as PAD + ADD instead of a concatenation: an integer CONCATENATION would force one
    scale on class tokens and features.

    Call arguments:
        front: Tensor of shape `(batch, tokens, dim)`.
        back: Tensor of shape `(batch, more_tokens, dim)`.

    Returns:
        Tensor of shape `(batch, tokens + more_tokens, dim)`.

    Raises:
        ValueError: the tokens of `front` and `back` have different dims.
    """

    def build(self, front_shape, back_shape):
        if front_shape[2:] != back_shape[2:]:
            raise InputError(
                f"tokens that are joined need the same dim; received shapes {front_shape} and {back_shape}"
            )
        self.built = True

    def call(self, front, back):
        before, behind = front.shape[1], back.shape[1]
        return ops.pad(front, ((0, 0), (0, behind), (0, 0))) + ops.pad(back, ((0, 0), (before, 0), (0, 0)))

    def compute_output_shape(self, front_shape, back_shape):
        return (front_shape[0], front_shape[1] + back_shape[1], *front_shape[2:])
