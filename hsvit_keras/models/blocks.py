"""Wiring and checks that the families share."""

import contextlib

import keras
from keras import layers

from hsvit_keras.layers import SoftmaxAttention


def residual_attention(tokens, norm, project, num_heads, dropout_rate, name):
    """`tokens + output(attention(query, key, value))`, all three made from `norm(tokens)`.

    Args:
        tokens: KerasTensor of shape `(batch, tokens, dim)` or `(batch, tokens, groups, dim)`.
        norm: layer that normalizes the tokens.
        project: function from a layer's name to a projection that keeps the shape.
        num_heads: int.
        dropout_rate: float in [0, 1), for the attention weights.
        name: str, what the names of the layers start with.
    """
    normalized = norm(tokens)
    mixed = SoftmaxAttention(num_heads, dropout_rate, name=f"{name}_attention")(
        project(f"{name}_attention_query")(normalized),
        project(f"{name}_attention_key")(normalized),
        project(f"{name}_attention_value")(normalized),
    )
    return layers.Add(name=f"{name}_add")([tokens, project(f"{name}_attention_output")(mixed)])


def group_dense(groups, dim, name):
    """A Dense layer of its own for each group: kernel `(groups, dim, dim)`.

    Its initial weights are those of a Dense layer from `dim` to `dim`: the default initializer would
    count the outputs of all groups and make them smaller.
    """
    return layers.EinsumDense(
        "bngi,gio->bngo",
        output_shape=(None, groups, dim),
        bias_axes="go",
        kernel_initializer=keras.initializers.VarianceScaling(1.0, "fan_in", "uniform"),
        name=name,
    )


@contextlib.contextmanager
def dtype_scope(policy):
    """Layers made inside have this dtype policy."""
    outer = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(outer)


def check_integer(name, value, minimum):
    """Raises `ValueError` unless `value` is an integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise ValueError(f"{name} has to be an integer of at least {minimum}; received {name}={value!r}")


def check_rate(name, value):
    """Raises `ValueError` unless `value` is a dropout rate."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise ValueError(f"{name} has to be a number in [0, 1); received {name}={value!r}")


def check_image_shape(input_shape):
    """Gives `input_shape` as a tuple (height, width, channels); raises `ValueError` if it is none."""
    shape = tuple(input_shape) if isinstance(input_shape, list | tuple) else (input_shape,)
    if len(shape) != 3 or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in shape):
        raise ValueError(
            f"input_shape has to be (height, width, channels), three positive integers; "
            f"received input_shape={input_shape!r}"
        )
    return shape
