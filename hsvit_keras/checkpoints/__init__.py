"""Other people's arguments and weights become our models; one file a family."""

from hsvit_keras.checkpoints.backbone import load_backbone
from hsvit_keras.checkpoints.importing import from_torch
from hsvit_keras.checkpoints.timm import from_timm
from hsvit_keras.checkpoints.transformers import from_transformers

__all__ = ["from_timm", "from_torch", "from_transformers", "load_backbone"]
