"""Vision transformers for Keras 3 that train on small data and run on phones."""

from hsvit_keras.checkpoints import from_torch
from hsvit_keras.compression import fold_batch_norm, slim, slimmable_parts
from hsvit_keras.models import (
    DHVT,
    HVT,
    CompactTransformer,
    ConvolutionalTransformer,
    FNet2D,
    HSViT,
    LeViT,
    MLPMixer,
    PoolingTransformer,
    PoolingXFormer,
    VisionTransformer,
    VisionXFormer,
    create_model,
    list_models,
)

__version__ = "0.1.0"
__all__ = [
    "DHVT",
    "HVT",
    "CompactTransformer",
    "ConvolutionalTransformer",
    "FNet2D",
    "HSViT",
    "LeViT",
    "MLPMixer",
    "PoolingTransformer",
    "PoolingXFormer",
    "VisionTransformer",
    "VisionXFormer",
    "create_model",
    "fold_batch_norm",
    "from_torch",
    "list_models",
    "slim",
    "slimmable_parts",
]
