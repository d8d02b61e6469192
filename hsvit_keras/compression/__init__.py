"""Passes: functions from one `keras.Model` to another."""

from hsvit_keras.compression.folding import fold_batch_norm
from hsvit_keras.compression.slimming import slim, slimmable_parts

__all__ = ["fold_batch_norm", "slim", "slimmable_parts"]
