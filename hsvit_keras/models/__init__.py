"""The model families, one file each."""

from hsvit_keras.models.hsvit import HSViT
from hsvit_keras.models.registry import create_model, list_models
from hsvit_keras.models.vision_xformer import VisionXFormer

__all__ = ["HSViT", "VisionXFormer", "create_model", "list_models"]
