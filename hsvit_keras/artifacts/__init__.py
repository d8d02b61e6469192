"""From Keras models to artifacts: lowered, converted, compared with the model, written; and opened to run."""

from hsvit_keras.artifacts.opening import open_model
from hsvit_keras.artifacts.writing import Samples, to_onnx, to_tflite
from hsvit_runtime.presets import PRESETS

__all__ = ["PRESETS", "Samples", "open_model", "to_onnx", "to_tflite"]
