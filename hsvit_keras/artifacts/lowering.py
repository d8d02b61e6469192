"""The pass to the inference form: the same outputs, written as phones compute them fast.

- the batch is fixed, or free where that is asked for; everything is float32;
- Keras' attention layers and patches are opened, see `open_layers`;
- batch normalization and the normalization of pixels are folded;
- what is read of the first tokens alone is computed for the first tokens alone;
- a Dense layer for each group becomes one grouped 1 x 1 convolution;
- group normalization adds no axis for its groups;
- keys lose their bias: it shifts all scores of a query alike, which softmax cancels;
- pooling whose stride is larger than its window, which XNNPACK refuses, reads a map that lacks
  the pixels it would skip;
- ranges of a quantized model become constants, see integer.py;
- for older runtimes, attention of few tokens needs no product of two computed matrices.
"""

import keras
import tensorflow as tf
from keras import layers

from hsvit_keras.artifacts import integer
from hsvit_keras.artifacts.few_token_attention import FewTokenAttention
from hsvit_keras.artifacts.group_normalization import FlatGroupNormalization
from hsvit_keras.compression import einsum
from hsvit_keras.compression.folding import fold_batch_norm, fold_normalization
from hsvit_keras.compression.graph import Graph, check_float
from hsvit_keras.compression.narrowing import compute_first_tokens_alone
from hsvit_keras.compression.opening import open_layers
from hsvit_keras.compression.quantized_layers import RoundedWeights
from hsvit_keras.compression.rewriting import config_of, rewrite
from hsvit_keras.layers import ModelDescription, NearestUpsampling, SoftmaxAttention

_GROUP_DENSE = "bngi,gio->bngo"


def lower(model, batch_size=1, for_older_runtime=False):
    """The inference form of a model.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It stays as it is.
        batch_size: int, samples at a time; None keeps the model's own batch, a free one unless its input
            fixes it.
        for_older_runtime: bool, whether a runtime whose delegate has no BATCH_MATMUL is to run it.

    Returns:
        A `keras.Model` with the outputs of `model` in inference, up to float32 rounding.

    Raises:
        ValueError: `model` has no graph that could be followed, or ranges that were never set.
    """
    integer.check_ranges(model)
    check_float(Graph(model))
    model = fold_normalization(fold_batch_norm(open_layers(model, check=False), check=False))
    return _to_inference_layers(compute_first_tokens_alone(model), batch_size, for_older_runtime)


def _to_inference_layers(model, batch_size, for_older_runtime):
    graph = Graph(model)
    without_bias = _key_projections(graph)
    barriers = {
        graph.path(layer): integer.putting(barrier, layer)
        for layer in graph.layers
        if (barrier := integer.barrier_in_front_of(layer, graph))
    }

    def replace(path, layer):
        if constant := integer.integer_form(layer, graph):
            return constant, []
        stock = layer.to_stock() if isinstance(layer, RoundedWeights) else layer
        config, weights = {**config_of(stock), "dtype": "float32"}, layer.get_weights()
        is_changed = path in barriers or path in without_bias
        if path in barriers:
            weights = integer.behind_barrier(layer)
        elif _has_bias_of_some_units(layer):
            config["bias_axes"], weights = einsum.with_bias_of_all_units(layer)
            is_changed = True
        if path in without_bias:
            off = {"bias_axes": None} if isinstance(layer, layers.EinsumDense) else {"use_bias": False}
            config, weights = {**config, **off}, weights[:1]
        if for_older_runtime and (few := FewTokenAttention.convert(layer)):
            return few
        if _is_group_dense(layer):
            return GroupedProjection.convert(config, weights)
        if isinstance(layer, layers.GroupNormalization) and (flat := FlatGroupNormalization.convert(layer)):
            return flat
        if isinstance(layer, layers.UpSampling2D) and layer.interpolation == "nearest":
            return NearestUpsampling(layer.size, name=layer.name)
        if isinstance(layer, layers.MaxPooling2D) and _skips_pixels(layer):
            return SkippingMaxPooling2D(layer.pool_size, layer.strides, name=layer.name)
        lowered = type(stock).from_config(config)
        return (lowered, weights) if is_changed else lowered

    def call(path, layer, *args, **kwargs):
        if isinstance(layer, ModelDescription):
            return args[0]
        if path in barriers:
            args = barriers[path](args)
        if integer.is_form(layer):
            return layer(args[0])  # of what else a call may say, such as masks, an artifact has nothing
        return layer(*args, **kwargs)

    return rewrite(graph, replace, call, batch_size=batch_size)


def _key_projections(graph):
    """Paths of the projections with a bias whose only reader takes them for its keys."""
    paths = set()
    for attention in graph.layers:
        if isinstance(attention, SoftmaxAttention):
            key = graph.producers(attention)[1]
            if _has_bias(key) and graph.is_called_once(key) and len(graph.consumers(key)) == 1:
                paths.add(graph.path(key))
    return paths


def _has_bias(layer):
    return isinstance(layer, layers.Dense | layers.EinsumDense) and layer.bias is not None


def _has_bias_of_some_units(layer):
    """Whether the converter would not see the bias of a projection as a part of its product."""
    if not isinstance(layer, layers.EinsumDense) or not layer.bias_axes:
        return False
    return not einsum.has_bias_of_positions(layer) and layer.bias_axes != einsum.units_letters(layer)


def _is_group_dense(layer):
    return isinstance(layer, layers.EinsumDense) and layer.equation == _GROUP_DENSE


def _skips_pixels(pooling):
    skips = any(stride > size for stride, size in zip(pooling.strides, pooling.pool_size, strict=True))
    return skips and pooling.padding == "valid" and pooling.data_format == "channels_last"


@keras.saving.register_keras_serializable("hsvit_keras")
class GroupedProjection(layers.Layer):
    """A Dense layer for each group, as one grouped 1 x 1 convolution over the tokens.

    Call arguments:
        tokens: Tensor of shape `(batch, tokens, groups, inputs)`.

    Returns:
        Tensor of shape `(batch, tokens, groups, units)`.
    """

    def __init__(self, units, use_bias=True, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.use_bias = use_bias

    @classmethod
    def convert(cls, config, weights):
        """This layer and its weights, from the config and the weights of a grouped `EinsumDense`."""
        kernel, *bias = weights
        groups, inputs, units = kernel.shape
        kernel = kernel.transpose(1, 0, 2).reshape(1, 1, inputs, groups * units)
        layer = cls(units, use_bias=bool(bias), name=config["name"], dtype=config["dtype"])
        return layer, [kernel, *(values.reshape(-1) for values in bias)]

    def build(self, input_shape):
        groups, inputs = input_shape[-2:]
        self.kernel = self.add_weight(shape=(1, 1, inputs, groups * self.units), name="kernel")
        if self.use_bias:
            self.bias = self.add_weight(shape=(groups * self.units,), initializer="zeros", name="bias")
        self.built = True

    def call(self, tokens):
        batch, count, groups, inputs = tokens.shape
        batch = _size(batch)
        column = tf.reshape(tokens, (batch, count, 1, groups * inputs))
        column = tf.nn.conv2d(column, tf.convert_to_tensor(self.kernel), 1, "VALID")
        if self.use_bias:
            column = tf.nn.bias_add(column, tf.convert_to_tensor(self.bias))
        return tf.reshape(column, (batch, count, groups, self.units))

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "use_bias": self.use_bias}


@keras.saving.register_keras_serializable("hsvit_keras")
class SkippingMaxPooling2D(layers.Layer):
    """Max pooling with strides of at least the window: drops the skipped pixels, then pools without gaps.

    Call arguments:
        maps: Tensor of shape `(batch, height, width, channels)`.

    Returns:
        Tensor of shape `(batch, pooled height, pooled width, channels)`.
    """

    def __init__(self, pool_size, strides, **kwargs):
        super().__init__(**kwargs)
        self.pool_size = tuple(pool_size)
        self.strides = tuple(strides)

    def call(self, maps):
        batch, _, width, channels = maps.shape
        (rows, row_stride), (columns, column_stride) = zip(self.pool_size, self.strides, strict=True)
        _, down, across, _ = self.compute_output_shape(maps.shape)
        maps = _resize(maps, 1, down * row_stride)
        maps = tf.reshape(maps, (_size(batch, down), row_stride, width, channels))
        maps = _resize(maps, 1, rows)
        maps = _resize(maps, 2, across * column_stride)
        maps = tf.reshape(maps, (_size(batch, down * rows), across, column_stride, channels))
        maps = _resize(maps, 2, columns)
        maps = tf.reshape(maps, (_size(batch), down * rows, across * columns, channels))
        return tf.nn.max_pool2d(maps, self.pool_size, self.pool_size, "VALID")

    def compute_output_shape(self, input_shape):
        batch, *sides, channels = input_shape
        pooled = [
            (side - size) // stride + 1
            for side, size, stride in zip(sides, self.pool_size, self.strides, strict=True)
        ]
        return (batch, *pooled, channels)

    def get_config(self):
        return {**super().get_config(), "pool_size": self.pool_size, "strides": self.strides}


def _resize(maps, axis, size):
    """Cuts an axis to `size`, or fills it up with zeros; only pixels that no window sees come or go."""
    shape = list(maps.shape)
    if shape[axis] < size:
        return tf.pad(maps, [(0, size - n if i == axis else 0) for i, n in enumerate(shape)])
    cut = [size if i == axis else n for i, n in enumerate(shape)]
    return tf.slice(maps, [0] * 4, [_size(n) for n in cut]) if cut != shape else maps


def _size(axis, factor=1):
    """The product as `tf.reshape` and `tf.slice` take it: -1 where the size of the axis is free."""
    return -1 if axis is None else axis * factor
