"""What tests of artifacts ask of a file's content and of random models."""

import numpy as np
from keras import layers

from hsvit_runtime.litert import tflite_file
from hsvit_runtime.tflite_model import TFLiteModel


def outputs_of(content, inputs):
    """What a `.tflite` file with one input and one output computes."""
    return TFLiteModel(content).predict_only(inputs)


def kernels_of(content):
    """Sizes of the constant kernels of convolutions and dense layers, by dtype."""
    found = {"int8": [], "float32": []}
    for graph in tflite_file.read(content, "model").subgraphs:
        for op in graph.ops:
            if op.kind in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
                found[op.inputs[1].dtype].append(int(np.prod(op.inputs[1].shape)))
    return {dtype: sorted(sizes) for dtype, sizes in found.items()}


def random_images(model, count=16, seed=0):
    """Normal numbers in the shape of a model's images."""
    return np.random.default_rng(seed).normal(size=(count, *model.input_shape[1:])).astype("float32")


def random_pixels(model, count=16, seed=0):
    """Whole numbers of 0 to 255 in the shape of a model's images, as float32."""
    shape = (count, *model.input_shape[1:])
    return np.random.default_rng(seed).integers(0, 256, shape).astype("float32")


def with_random_statistics(model, seed=0):
    """The model, its batch normalizations as if it were trained."""
    rng = np.random.default_rng(seed)
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([rng.uniform(0.5, 1.5, weight.shape) for weight in layer.get_weights()])
    return model
