"""Weights of the library timm become our models; one file a family whose names are its own."""

from hsvit_keras.checkpoints.timm.importing import from_timm

__all__ = ["from_timm"]
