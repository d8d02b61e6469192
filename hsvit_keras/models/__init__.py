"""The model families, one file each."""

from hsvit_keras.models.hsvit import HSViT
from hsvit_keras.models.registry import create_model, list_models

__all__ = ["HSViT", "create_model", "list_models"]
