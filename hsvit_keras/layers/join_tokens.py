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
        front: Tensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.
        back: Tensor of shape `(batch, more_tokens, dim)` or `(batch, more_tokens, groups, dim)`. One group
            in front or back stands for each group of the other.

    Returns:
        Tensor of shape `(batch, tokens + more_tokens, dim)` or `(batch, tokens + more_tokens, groups, dim)`.

    Raises:
        ValueError: `front` and `back` have different dims, or numbers of groups that do not fit.
    """

    def build(self, front_shape, back_shape):
        *groups, dim = front_shape[2:]
        *others, other_dim = back_shape[2:]
        if dim != other_dim or len(groups) != len(others) or len({*groups, *others} - {1}) > 1:
            raise InputError(
                "tokens that are joined need the same dim and groups; "
                f"received shapes {front_shape} and {back_shape}"
            )
        self.built = True

    def call(self, front, back):
        rest = [(0, 0)] * (len(front.shape) - 2)
        behind, before = (0, back.shape[1]), (front.shape[1], 0)
        return ops.pad(front, [(0, 0), behind, *rest]) + ops.pad(back, [(0, 0), before, *rest])

    def compute_output_shape(self, front_shape, back_shape):
        rest = map(max, front_shape[2:], back_shape[2:])
        return (front_shape[0], front_shape[1] + back_shape[1], *rest)
