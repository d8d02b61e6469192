"""The model families, one file each."""

from hsvit_keras.models.cct import CompactTransformer
from hsvit_keras.models.cvt import ConvolutionalTransformer
from hsvit_keras.models.cvt_microsoft import ConvolutionalVisionTransformer
from hsvit_keras.models.deformable_detr import DeformableDETR
from hsvit_keras.models.deformable_transformer import with_auxiliary_outputs
from hsvit_keras.models.deit import VisionTransformer
from hsvit_keras.models.dhvt import DHVT
from hsvit_keras.models.efficientformer import EfficientFormer
from hsvit_keras.models.efficientnet import EfficientNet
from hsvit_keras.models.fnet2d import FNet2D
from hsvit_keras.models.hsvit import HSViT
from hsvit_keras.models.hvt import HVT
from hsvit_keras.models.keras_cv_detectors import YOLOV8, RetinaNet, from_keras_cv
from hsvit_keras.models.levit import LeViT
from hsvit_keras.models.mlp_mixer import MLPMixer
from hsvit_keras.models.mobilenet_v2 import MobileNetV2
from hsvit_keras.models.mobilevit import MobileViT
from hsvit_keras.models.mobilevit_v2 import MobileViTV2
from hsvit_keras.models.pit import PoolingTransformer
from hsvit_keras.models.pooling_xformer import PoolingXFormer
from hsvit_keras.models.registry import create_model, list_models
from hsvit_keras.models.resnet import ResNet
from hsvit_keras.models.swiftformer import SwiftFormer
from hsvit_keras.models.unet import UNet
from hsvit_keras.models.vision_xformer import VisionXFormer

__all__ = [
    "DHVT",
    "HVT",
    "YOLOV8",
    "CompactTransformer",
    "ConvolutionalTransformer",
    "ConvolutionalVisionTransformer",
    "DeformableDETR",
    "EfficientFormer",
    "EfficientNet",
    "FNet2D",
    "HSViT",
    "LeViT",
    "MLPMixer",
    "MobileNetV2",
    "MobileViT",
    "MobileViTV2",
    "PoolingTransformer",
    "PoolingXFormer",
    "ResNet",
    "RetinaNet",
    "SwiftFormer",
    "UNet",
    "VisionTransformer",
    "VisionXFormer",
    "create_model",
    "from_keras_cv",
    "list_models",
    "with_auxiliary_outputs",
]
