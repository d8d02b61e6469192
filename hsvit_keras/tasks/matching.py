"""The assignment of predictions to boxes that costs least, one prediction a box.

DETR, https://arxiv.org/abs/2005.12872, section 3.1. The costs are computed where the model is, the assignment
by SciPy on the host.
"""

import functools

import keras
import numpy as np

from hsvit_keras.backends import require_backend
from hsvit_runtime.errors import MissingPackageError


def matched(costs, is_box):
    """For each box the prediction that it is assigned to.

    Args:
        costs: float Tensor `(..., predictions, boxes)`.
        is_box: bool Tensor `(..., boxes)`, False where labels are padded.

    Returns:
        int32 Tensor `(..., boxes)`; -1 for padding, and for boxes that no prediction is left for.
    """
    require_backend("tensorflow", "jax")
    assign = functools.partial(_assign, _solver())
    if keras.backend.backend() == "jax":
        import jax

        shape = jax.ShapeDtypeStruct(is_box.shape, np.int32)
        return jax.pure_callback(assign, shape, costs, is_box)
    import tensorflow as tf

    found = tf.numpy_function(assign, [costs, is_box], tf.int32, stateful=False)
    return tf.ensure_shape(found, is_box.shape)


def _assign(solve, costs, is_box):
    costs, is_box = np.asarray(costs, "float64"), np.asarray(is_box)
    found = np.full(is_box.shape, -1, np.int32)
    for place in np.ndindex(is_box.shape[:-1]):
        boxes = np.flatnonzero(is_box[place])
        # What is not a number is the loss's to report: it must not stop the assignment.
        rows, columns = solve(np.nan_to_num(costs[place][:, boxes], nan=0.0))
        found[place][boxes[columns]] = rows
    return found


def _solver():
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError as error:
        raise MissingPackageError("training a detector needs: pip install scipy") from error
    return linear_sum_assignment
