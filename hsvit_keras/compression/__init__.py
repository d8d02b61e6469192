"""Passes: functions from one `keras.Model` to another."""

from hsvit_keras.compression.folding import fold_batch_norm

__all__ = ["fold_batch_norm"]
