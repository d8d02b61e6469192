"""Layers that stock Keras lacks; tokens are `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`."""

from hsvit_keras.layers.additive_attention import AdditiveAttention
from hsvit_keras.layers.anchor_boxes import AnchorBoxes
from hsvit_keras.layers.box_logits import BoxLogits, StopGradient
from hsvit_keras.layers.channel_normalization import ChannelNormalization
from hsvit_keras.layers.class_token import ClassToken
from hsvit_keras.layers.deformable_attention import DeformableAttention
from hsvit_keras.layers.detection_output import DetectionOutput
from hsvit_keras.layers.distribution_boxes import DistributionBoxes
from hsvit_keras.layers.edge_padding import EdgePadding2D
from hsvit_keras.layers.first_token import FirstToken
from hsvit_keras.layers.for_each_sample import ForEachSample
from hsvit_keras.layers.fourier_mixing import FourierMixing
from hsvit_keras.layers.grid_attention import GridAttention
from hsvit_keras.layers.group_dropout import GroupDropout
from hsvit_keras.layers.group_layer_normalization import GroupLayerNormalization
from hsvit_keras.layers.image_parts import ImageParts
from hsvit_keras.layers.join_tokens import JoinTokens
from hsvit_keras.layers.layer_scale import LayerScale
from hsvit_keras.layers.linformer_attention import LinformerAttention
from hsvit_keras.layers.model_description import ModelDescription
from hsvit_keras.layers.nearest_upsampling import NearestUpsampling
from hsvit_keras.layers.nystrom_attention import NystromAttention
from hsvit_keras.layers.own_weight import OwnWeight
from hsvit_keras.layers.patch_pixels import FoldPatches, UnfoldPatches
from hsvit_keras.layers.performer_attention import PerformerAttention
from hsvit_keras.layers.position_embedding import PositionEmbedding
from hsvit_keras.layers.quick_gelu import quick_gelu
from hsvit_keras.layers.rotary_embedding import RotaryEmbedding
from hsvit_keras.layers.scored_attention import ScoredAttention
from hsvit_keras.layers.separable_attention import SeparableAttention
from hsvit_keras.layers.sequence_pooling import SequencePooling
from hsvit_keras.layers.shift import Shift
from hsvit_keras.layers.sine_position_embedding import SinePositionEmbedding
from hsvit_keras.layers.softmax_attention import SoftmaxAttention
from hsvit_keras.layers.tile_tokens import TileTokens
from hsvit_keras.layers.token_elimination import TokenElimination
from hsvit_keras.layers.token_range import TokenRange

__all__ = [
    "AdditiveAttention",
    "AnchorBoxes",
    "BoxLogits",
    "ChannelNormalization",
    "ClassToken",
    "DeformableAttention",
    "DetectionOutput",
    "DistributionBoxes",
    "EdgePadding2D",
    "FirstToken",
    "FoldPatches",
    "ForEachSample",
    "FourierMixing",
    "GridAttention",
    "GroupDropout",
    "GroupLayerNormalization",
    "ImageParts",
    "JoinTokens",
    "LayerScale",
    "LinformerAttention",
    "ModelDescription",
    "NearestUpsampling",
    "NystromAttention",
    "OwnWeight",
    "PerformerAttention",
    "PositionEmbedding",
    "RotaryEmbedding",
    "ScoredAttention",
    "SeparableAttention",
    "SequencePooling",
    "Shift",
    "SinePositionEmbedding",
    "SoftmaxAttention",
    "StopGradient",
    "TileTokens",
    "TokenElimination",
    "TokenRange",
    "UnfoldPatches",
    "quick_gelu",
]
