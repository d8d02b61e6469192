"""Vision transformers for Keras 3 that train on small data and run on phones."""

from hsvit_keras.checkpoints import from_torch
from hsvit_keras.compression import (
    ConstantSparsity,
    PolynomialDecay,
    fold_batch_norm,
    prune,
    slim,
    slimmable_parts,
    sparsity_report,
)
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
    "ConstantSparsity",
    "ConvolutionalTransformer",
    "FNet2D",
    "HSViT",
    "LeViT",
    "MLPMixer",
    "PolynomialDecay",
    "PoolingTransformer",
    "PoolingXFormer",
    "VisionTransformer",
    "VisionXFormer",
    "create_model",
    "fold_batch_norm",
    "from_torch",
    "list_models",
    "prune",
    "slim",
    "slimmable_parts",
    "sparsity_report",
]
