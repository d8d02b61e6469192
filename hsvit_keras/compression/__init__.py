"""Compression passes: functions that take a `keras.Model` and return another one."""

from hsvit_keras.compression.calibration import Calibration, calibrate
from hsvit_keras.compression.equalization import equalize
from hsvit_keras.compression.folding import fold_batch_norm
from hsvit_keras.compression.pruning import prune
from hsvit_keras.compression.quantization import quantize_aware, remove_quantization
from hsvit_keras.compression.ranges import FreezeRanges
from hsvit_keras.compression.schedules import ConstantSparsity, PolynomialDecay
from hsvit_keras.compression.schemes import SCHEMES, Scheme
from hsvit_keras.compression.sharding import shard
from hsvit_keras.compression.slimming import slim, slimmable_parts
from hsvit_keras.compression.sparsity import sparsity_report

__all__ = [
    "SCHEMES",
    "Calibration",
    "ConstantSparsity",
    "FreezeRanges",
    "PolynomialDecay",
    "Scheme",
    "calibrate",
    "equalize",
    "fold_batch_norm",
    "prune",
    "quantize_aware",
    "remove_quantization",
    "shard",
    "slim",
    "slimmable_parts",
    "sparsity_report",
]
