"""The authors' PyTorch arguments and weights become our models; one file a family."""

from hsvit_keras.checkpoints.importing import from_torch

__all__ = ["from_torch"]
