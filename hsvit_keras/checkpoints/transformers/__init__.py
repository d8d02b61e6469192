"""Checkpoint folders of the library transformers become our models; one file a family."""

from hsvit_keras.checkpoints.transformers.importing import from_transformers

__all__ = ["from_transformers"]
