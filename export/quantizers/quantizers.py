"""The tools that are compared: each makes an int8 `.tflite` of a float model and calibration images."""

import contextlib
import io
import warnings

import hsvit_keras
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.artifacts.tflite_conversion import convert
from hsvit_keras.artifacts.writing import with_ranges
from hsvit_runtime.native_output import quietly
from hsvit_runtime.presets import RANGE_METHODS

_BATCH = 32  # of calibration images, of which one way to find ranges takes the mean


def quantizers():
    """Functions `(model, images)` that give the content of a `.tflite` file, by their names."""
    return {
        "ours": _ours(),
        "TFLiteConverter": _stock_converter,
        "ai-edge-quantizer": _ai_edge_quantizer,
        **{f"ours, {method}": _ours(ranges=method) for method in RANGE_METHODS[1:]},
        "ours, biases as they are": _ours(corrects_biases=False),
        "ours, equalized": _ours(equalizes=True),
    }


def _ours(**options):
    """By `Calibration` with other options than its own."""

    def quantize(model, images):
        batches = [images[start : start + _BATCH] for start in range(0, len(images), _BATCH)]
        calibration = hsvit_keras.Calibration(batches, **options)
        return convert(lower(with_ranges(model, calibration)), "int8")

    return quantize


def _stock_converter(model, images):
    import tensorflow as tf

    with _quietly():
        converter = tf.lite.TFLiteConverter.from_keras_model(_with_batch_of_one(model))
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image[None]] for image in images)
        return bytes(converter.convert())


def _ai_edge_quantizer(model, images):
    import tensorflow as tf
    from ai_edge_quantizer import quantizer, recipe

    with _quietly():
        content = bytes(tf.lite.TFLiteConverter.from_keras_model(_with_batch_of_one(model)).convert())
        tool = quantizer.Quantizer(content, recipe.static_wi8_ai8())
        key, name = _signature(content)
        ranges = tool.calibrate({key: [{name: image[None]} for image in images]})
        return bytes(tool.quantize(ranges, enable_progress_report=False).quantized_model)


@contextlib.contextmanager
def _quietly():
    """Without what the tools print."""
    nowhere = io.StringIO()
    with quietly(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            yield


def _signature(content):
    """The key of the only signature of a file, and the name of its only input."""
    from ai_edge_litert.interpreter import Interpreter

    ((key, signature),) = Interpreter(model_content=content).get_signature_list().items()
    (name,) = signature["inputs"]
    return key, name


def _with_batch_of_one(model):
    """Converters take the model's own batch, and a free one keeps XNNPACK away."""
    from hsvit_keras.compression.rewriting import rewrite

    return rewrite(model, batch_size=1)
