"""Layers that compute with rounded weights, and train the weights before rounding.

In everything else each layer equals its stock layer: same weights, names and shapes.
"""

import keras
from keras import layers, ops

from hsvit_keras.compression import einsum
from hsvit_keras.compression.ranges import check_bits, is_rounding
from hsvit_keras.compression.rewriting import config_of
from hsvit_keras.layers import ClassToken, PositionEmbedding


class RoundedWeights:
    """Base of the quantized form of a layer class.

    A subclass names the stock class as its second base: `class QuantizedDense(RoundedKernel, Dense)`.

    Args:
        weight_bits: int, bits of the rounded weights.
        **kwargs: arguments of the stock class.
    """

    def __init__(self, *args, weight_bits=8, **kwargs):
        check_bits("weight_bits", weight_bits)
        super().__init__(*args, **kwargs)
        self.weight_bits = weight_bits

    def call(self, inputs):
        if not is_rounding():
            return super().call(inputs)
        # Within the scope the stock layer reads the rounded values from its variables.
        values = [(weight, self.rounded(weight)) for weight in self.weights]
        with keras.StatelessScope(state_mapping=values):
            return super().call(inputs)

    def rounded(self, weight):
        """The value that the layer uses in place of a weight."""
        raise NotImplementedError

    @classmethod
    def from_stock(cls, layer, weight_bits):
        """The quantized form of a layer, without the values of its weights."""
        config = {**config_of(layer), "weight_bits": weight_bits}
        config.pop("lora_rank", None)  # the integer kernel is that of the sum
        return cls.from_config(config)

    def to_stock(self):
        """The stock layer of this quantized layer, without the values of its weights."""
        config = self.get_config()
        del config["weight_bits"]
        _, stock = type(self).__bases__
        return stock.from_config(config)

    def get_config(self):
        return {**super().get_config(), "weight_bits": self.weight_bits}


class RoundedKernel(RoundedWeights):
    """Rounds the kernel symmetrically to integers, with a scale for each output channel."""

    def inputs_axes(self):
        """The axes of the kernel that share a scale; the other axes are output channels."""
        return tuple(range(len(self.kernel.shape) - 1))

    def rounded(self, weight):
        if weight is not self.kernel:
            return ops.convert_to_tensor(weight)
        return round_kernel(weight, self.inputs_axes(), self.weight_bits)

    def integer_kernel(self):
        """The rounded kernel as an integer array of its shape."""
        kernel = ops.cast(self.kernel, "float32")
        integers = ops.round(kernel / _scale(kernel, self.inputs_axes(), self.weight_bits))
        return ops.convert_to_numpy(integers).astype("int8" if self.weight_bits <= 8 else "int16")


class RoundedConstant(RoundedWeights):
    """Rounds weights that are added to activations in the way of activations: one range for the tensor."""

    def rounded(self, weight):
        constant = ops.cast(weight, "float32")
        low, high = (ops.stop_gradient(bound) for bound in constant_bounds(constant))
        return keras.quantizers.fake_quant_with_min_max_vars(constant, low, high, num_bits=self.weight_bits)


def round_kernel(kernel, inputs_axes, bits):
    """Rounds a kernel to `-(2^(bits-1) - 1) .. 2^(bits-1) - 1` times the scale of each output channel.

    Gradients ignore the rounding (straight-through estimator).
    """
    kernel = ops.cast(kernel, "float32")
    scale = _scale(kernel, inputs_axes, bits)
    return kernel + ops.stop_gradient(ops.round(kernel / scale) * scale - kernel)


def _scale(kernel, inputs_axes, bits):
    largest = ops.max(ops.abs(kernel), axis=inputs_axes, keepdims=True)
    return ops.maximum(largest, 1e-20) / (2 ** (bits - 1) - 1)


def constant_bounds(constant):
    """The lowest and the highest value of a range that contains all values and 0."""
    return ops.minimum(ops.min(constant), 0.0), ops.maximum(ops.max(constant), 1e-4)


@keras.saving.register_keras_serializable("hsvit_keras")
class QuantizedConv1D(RoundedKernel, layers.Conv1D):
    """`Conv1D` with a rounded kernel."""


@keras.saving.register_keras_serializable("hsvit_keras")
class QuantizedConv2D(RoundedKernel, layers.Conv2D):
    """`Conv2D` with a rounded kernel."""


@keras.saving.register_keras_serializable("hsvit_keras")
class QuantizedConv1DTranspose(RoundedKernel, layers.Conv1DTranspose):
    """`Conv1DTranspose` with a rounded kernel `(steps, output channels, input channels)`."""

    def inputs_axes(self):
        return (0, 2)


@keras.saving.register_keras_serializable("hsvit_keras")
class QuantizedConv2DTranspose(RoundedKernel, layers.Conv2DTranspose):
    """`Conv2DTranspose` with a rounded kernel `(height, width, output channels, input channels)`."""

    def inputs_axes(self):
        return (0, 1, 3)


@keras.saving.register_keras_serializable("hsvit_keras")
class QuantizedDepthwiseConv1D(RoundedKernel, layers.DepthwiseConv1D):
    """`DepthwiseConv1D` with a rounded kernel."""

    def inputs_axes(self):
        return (0,)


@keras.saving.register_keras_serializable("hsvit_keras")
class QuantizedDepthwiseConv2D(RoundedKernel, layers.DepthwiseConv2D):
    """`DepthwiseConv2D` with a rounded kernel."""

    def inputs_axes(self):
        return (0, 1)


@keras.saving.register_keras_serializable("hsvit_keras")
class QuantizedDense(RoundedKernel, layers.Dense):
    """`Dense` with a rounded kernel."""


@keras.saving.register_keras_serializable("hsvit_keras")
class QuantizedEinsumDense(RoundedKernel, layers.EinsumDense):
    """`EinsumDense` with a rounded kernel, such as a projection with one kernel for each group."""

    def inputs_axes(self):
        _, kernel, outputs = einsum.letters(self)
        return tuple(axis for axis, letter in enumerate(kernel) if letter not in outputs)


@keras.saving.register_keras_serializable("hsvit_keras")
class QuantizedClassToken(RoundedConstant, ClassToken):
    """`ClassToken` with rounded tokens."""


@keras.saving.register_keras_serializable("hsvit_keras")
class QuantizedPositionEmbedding(RoundedConstant, PositionEmbedding):
    """`PositionEmbedding` with rounded embeddings."""
