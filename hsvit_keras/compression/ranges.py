"""Ranges of activations: observed in training or calibration, used to round activations in every call.

A range is a layer of its own in the graph, after the layer whose output it rounds.
"""

import contextlib
import contextvars

import keras
from keras import ops

from hsvit_keras.compression.graph import layers_inside
from hsvit_runtime.errors import InputError

_SMALLEST_RANGE = 1e-4  # a range of zeros only still needs a scale above 0
_is_rounding = contextvars.ContextVar("is_rounding", default=True)


@contextlib.contextmanager
def unrounded():
    """Quantized models called inside compute as the float models that they were made of."""
    token = _is_rounding.set(False)
    try:
        yield
    finally:
        _is_rounding.reset(token)


def is_rounding():
    """Whether ranges and quantized layers round, which they do but inside of `unrounded`."""
    return _is_rounding.get()


@keras.saving.register_keras_serializable("hsvit_keras")
class ActivationRange(keras.layers.Layer):
    """Rounds activations to the `2^bits` values of an integer tensor, whose range is observed in training.

    The range is the mean of the ranges of the first batches, and an exponential moving average later.
    Gradients are passed on within the range and are zero outside. Before the first observation the inputs
    are returned unchanged.

    Args:
        symmetric: bool, whether zero is the middle of the range, so that the zero point is 0.
        bits: int, bits of the integers.
        percent: float in (50, 100]. With 100 the range of a batch is from its smallest to its largest value;
            a lower value leaves out outliers on each side: 99.9 leaves out a thousandth.
        momentum: float in [0, 1), of the moving average.
        fixed: (low, high), a range that is known and never observed, such as that of pixels.

    Call arguments:
        inputs: Tensor of any shape.
        training: bool, whether to observe the range of the inputs.

    Returns:
        Tensor of the same shape.

    Raises:
        InputError: an argument is out of its range.

    References:
        - [Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference
          ](https://arxiv.org/abs/1712.05877), section 3.1
    """

    def __init__(self, symmetric=False, bits=8, percent=100.0, momentum=0.99, fixed=None, **kwargs):
        super().__init__(**kwargs)
        check_bits("bits", bits)
        check_observer(percent, momentum)
        self.symmetric = symmetric
        self.bits = bits
        self.percent = percent
        self.momentum = momentum
        self.fixed = None if fixed is None else tuple(fixed)

    def build(self, input_shape):
        low, high = self.fixed or (0.0, 0.0)
        is_fixed = float(self.fixed is not None)
        for name, value in (
            ("low", low), ("high", high), ("observed_batches", is_fixed), ("frozen", is_fixed),
        ):  # fmt: skip
            initializer = keras.initializers.Constant(value)
            state = {"trainable": False, "dtype": "float32", "autocast": False}
            setattr(self, name, self.add_weight(shape=(), name=name, initializer=initializer, **state))
        self.built = True

    def call(self, inputs, training=None):
        if not is_rounding():
            return inputs
        values = ops.cast(inputs, "float32")
        if training:
            self.observe(*self.limits(values))
        rounded = keras.quantizers.fake_quant_with_min_max_vars(values, *self.bounds(), num_bits=self.bits)
        return ops.cast(ops.where(self.observed_batches > 0, rounded, values), inputs.dtype)

    def limits(self, inputs):
        """The smallest and the largest value of a batch without its outliers, two scalars."""
        if self.percent == 100:
            return ops.min(inputs), ops.max(inputs)
        share = self.percent / 100
        low, high = ops.quantile(ops.reshape(inputs, (-1,)), ops.convert_to_tensor([1 - share, share]))
        return low, high

    def observe(self, low, high):
        """Updates the average with the limits of one more batch, unless the range is frozen."""
        is_updated = 1 - self.frozen
        rate = is_updated * ops.maximum(1 - self.momentum, 1 / (self.observed_batches + 1))
        self.low.assign(self.low + rate * (ops.stop_gradient(low) - self.low))
        self.high.assign(self.high + rate * (ops.stop_gradient(high) - self.high))
        self.observed_batches.assign(self.observed_batches + is_updated)

    def set_range(self, low, high, batches):
        """Sets what so many batches have shown, unless the range is fixed."""
        if self.fixed is None:
            self.low.assign(low)
            self.high.assign(high)
            self.observed_batches.assign(float(batches))

    def reset(self):
        """Discards all observations and unfreezes the range; a fixed range does not change."""
        if self.fixed is not None:
            return
        self.observed_batches.assign(0.0)
        self.frozen.assign(0.0)

    def bounds(self):
        """(low, high) of the range used for rounding. It contains 0, which padding needs exactly."""
        low, high = ops.minimum(self.low, 0.0), ops.maximum(self.high, 0.0)
        if self.symmetric:
            limit = ops.maximum(ops.maximum(-low, high), _SMALLEST_RANGE)
            steps = 2 ** (self.bits - 1)
            return -limit * steps / (steps - 1), limit
        return low, ops.maximum(high, low + _SMALLEST_RANGE)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "symmetric": self.symmetric,
            "bits": self.bits,
            "percent": self.percent,
            "momentum": self.momentum,
            "fixed": self.fixed,
        }


def ranges_of(model):
    """The `ActivationRange` layers of a model and of those inside of it."""
    return [layer for layer in layers_inside(model) if isinstance(layer, ActivationRange)]


class FreezeRanges(keras.callbacks.Callback):
    """Freezes the ranges of a model at the start of an epoch; later epochs train the weights only.

    Args:
        epoch: int, the first epoch with frozen ranges, counted from 0.

    Raises:
        InputError: `epoch` is negative or not an integer.
    """

    def __init__(self, epoch):
        super().__init__()
        if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 0:
            raise InputError(f"epoch has to be an integer of at least 0; received epoch={epoch!r}")
        self.epoch = epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch >= self.epoch:
            for layer in ranges_of(self.model):
                layer.frozen.assign(1.0)


def check_bits(name, bits):
    """Raises `InputError` unless `bits` is a supported number of bits."""
    if isinstance(bits, bool) or not isinstance(bits, int) or not 2 <= bits <= 16:
        raise InputError(f"{name} has to be an integer from 2 to 16; received {name}={bits!r}")


def check_observer(percent, momentum):
    """Raises `InputError` unless both are valid arguments of `ActivationRange`."""
    if not 50 < percent <= 100:
        raise InputError(f"percent has to be in (50, 100]; received percent={percent!r}")
    if not 0 <= momentum < 1:
        raise InputError(f"momentum has to be in [0, 1); received momentum={momentum!r}")
