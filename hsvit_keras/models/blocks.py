"""Blocks, heads and checks of arguments that the families share.

A mixer is a function `(tokens, name) -> tokens` that mixes information across tokens; the kinds of attention
are the rows of `ATTENTION`, exchangeable by name.
"""

import functools
import inspect

import keras
from keras import layers

from hsvit_keras.layers import (
    ClassToken,
    FirstToken,
    FourierMixing,
    JoinTokens,
    LayerScale,
    LinformerAttention,
    NystromAttention,
    PerformerAttention,
    PositionEmbedding,
    RotaryEmbedding,
    SoftmaxAttention,
    TokenRange,
    quick_gelu,
)
from hsvit_keras.models.image_model import as_plain
from hsvit_runtime.errors import InputError

ATTENTION = {
    "softmax": SoftmaxAttention,
    "linformer": LinformerAttention,
    "performer": PerformerAttention,
    "nystrom": NystromAttention,
}
# The four kinds with the settings of the Vision X-formers' programs, the same in each architecture.
XFORMERS = {
    "softmax": {"attention": "softmax"},
    "performer": {"attention": "performer", "qkv_bias": True},
    "linformer": {
        "attention": "linformer",
        "attention_arguments": {"projected_tokens": 64},
        "shared_key_head": True,
    },
    "nystrom": {"attention": "nystrom", "attention_arguments": {"num_landmarks": 64}},
}
# Minima of integer settings of attention.
_MINIMA = {
    "iterations": 1, "local_heads": 0, "num_features": 1, "num_landmarks": 1, "projected_tokens": 1,
    "residual_kernel": 0, "window_size": 1,
}  # fmt: skip


def attention(kind, num_heads, project, output, rotary=False, key=None, value=None, **settings):
    """A mixer: projections, rotary positions if wanted, the core of a kind of attention, and a projection.

    Args:
        kind: str, one of `ATTENTION`, or `"fourier"`, which has no projections and no settings.
        num_heads: int.
        project: function from a layer's name to the projection of queries, keys and values.
        output: function from a layer's name to the projection behind the core.
        rotary: bool, whether queries and keys are rotated by their positions.
        key: function like `project`, where keys have another width. Linformer's values are its keys.
        value: function like `project`, where values have another width.
        **settings: other arguments of the core's layer.

    Raises:
        ValueError: there is no such kind, or it has no such setting.
    """
    check_choice("attention", kind, (*ATTENTION, "fourier"))
    _check_settings(kind, settings)
    if kind == "fourier":
        if rotary:
            raise InputError("Fourier mixing has no queries and keys to rotate; received rotary=True")
        return lambda tokens, name: FourierMixing(name=f"{name}_mixing")(tokens)

    def mix(tokens, name):
        query = project(f"{name}_query")(tokens)
        keys = (key or project)(f"{name}_key")(tokens)
        values = keys if kind == "linformer" else (value or project)(f"{name}_value")(tokens)
        if rotary:
            start = -tokens.shape[1] % settings["num_landmarks"] if kind == "nystrom" else 0
            query = RotaryEmbedding(num_heads, start, name=f"{name}_query_rotary")(query)
            keys = RotaryEmbedding(
                num_heads * keys.shape[-1] // query.shape[-1], start, name=f"{name}_key_rotary"
            )(keys)
        mixed = ATTENTION[kind](num_heads, **settings, name=name)(query, keys, values)
        return output(f"{name}_output")(mixed)

    return mix


def dense_attention(
    kind, num_heads, head_dim, dim, qkv_bias, shared_key_head=False, rotary=False, settings=None, wrap=None,
    value_dim=None,
):  # fmt: skip
    """`attention` between Dense layers, whose heads need not fill the width of the tokens.

    Args:
        kind: str, one of `ATTENTION` or `"fourier"`.
        num_heads: int.
        head_dim: int, length of a head's queries.
        dim: int, length of the tokens that are given back.
        qkv_bias: bool, whether queries, keys and values have a bias.
        shared_key_head: bool, whether all heads share one head of keys; for Linformer.
        rotary: bool, whether queries and keys are rotated by their positions.
        settings: dict, other arguments of the core's layer, or None.
        wrap: function from (projection of queries, keys and values; projection of the output), both
            functions from a name to a layer, to the two that replace them; None for no change.
        value_dim: int, length of a head's values; `head_dim` by default.

    Raises:
        ValueError: there is no such kind, or the arguments do not fit it.
    """
    if not isinstance(settings, dict | None):
        raise InputError(f"attention_arguments has to be a dict; received attention_arguments={settings!r}")
    if shared_key_head and kind != "linformer":
        raise InputError(
            f"only heads of 'linformer' can share their keys; "
            f"received shared_key_head={shared_key_head}, attention={kind!r}"
        )
    if rotary and head_dim % 2:
        raise InputError(
            f"pairs of features are rotated, so head_dim has to be even; received head_dim={head_dim}"
        )
    project, output = dense(num_heads * head_dim, qkv_bias), dense(dim)
    value = dense(num_heads * (value_dim or head_dim), qkv_bias)
    if wrap:
        (value, _), (project, output) = wrap(value, output), wrap(project, output)
    return attention(
        kind,
        num_heads,
        project,
        output,
        rotary=rotary,
        key=dense(head_dim, qkv_bias) if shared_key_head else None,
        value=value,
        **settings or {},
    )


def _check_settings(kind, settings):
    """Raises `ValueError` if a kind of attention does not know one of the settings, or needs another."""
    known = {} if kind == "fourier" else dict(inspect.signature(ATTENTION[kind]).parameters)
    known = {name: known[name] for name in known if name not in ("num_heads", "kwargs")}
    needed = {name for name, parameter in known.items() if parameter.default is parameter.empty}
    surplus, missing = [name for name in settings if name not in known], needed - set(settings)
    if surplus or missing:
        raise InputError(
            f"attention_arguments of {kind!r} can be {', '.join(known) or 'none'}; "
            f"missing: {', '.join(sorted(missing)) or 'none'}; unknown: {', '.join(surplus) or 'none'}"
        )
    for name, minimum in _MINIMA.items():
        if settings.get(name) is not None:
            check_integer(name, settings[name], minimum)
    if settings.get("residual_kernel"):
        check_odd("residual_kernel", settings["residual_kernel"])
    check_rate("dropout_rate", settings.get("dropout_rate", 0.0))


def attend(tokens, norm, mixer, name, drop_rate=0.0):
    """The first half of a block: `tokens + mixer(norm(tokens))`."""
    return residual(
        tokens, norm(f"{name}_norm"), lambda x: mixer(x, f"{name}_attention"), f"{name}_attention", drop_rate
    )


def residual(tokens, norm, branch, name, drop_rate=0.0):
    """`tokens + branch(norm(tokens))`; the branch names its own layers, and may be dropped."""
    return layers.Add(name=f"{name}_add")([tokens, dropped(branch(norm(tokens)), drop_rate, name)])


def dropped(branch, rate, name, apart=()):
    """Stochastic depth: in training a branch is left out of an image at random, in others it counts more.

    Args:
        branch: KerasTensor `(batch, ...)`.
        rate: float in [0, 1), the chance to be left out; 0 for no layer.
        name: str, what the name of the layer starts with.
        apart: axes beside that of the batch, along which each part is left out by itself.
    """
    if not rate:
        return branch
    whole = tuple(size if axis in apart else 1 for axis, size in enumerate(branch.shape))
    whole = (None, *whole[1:])
    return layers.Dropout(rate, noise_shape=whole, name=f"{name}_drop")(branch)


def drop_rates(rate, depth):
    """The rates of stochastic depth of all blocks: from 0 in the first to `rate` in the last, in a line."""
    return [rate * i / max(1, depth - 1) for i in range(depth)]


def transformer_block(tokens, norm, mixer, mlp_dim, dropout_rate, name, activation="gelu", drop_rate=0.0):
    """Attention and feed-forward, each normalized in front and added to its input, unless it is dropped."""
    tokens = attend(tokens, norm, mixer, name, drop_rate)
    return feed_forward_residual(tokens, norm, mlp_dim, dropout_rate, name, drop_rate, activation)


def feed_forward_residual(tokens, norm, mlp_dim, dropout_rate, name, drop_rate=0.0, activation="gelu"):
    """The second half of a block: `tokens + feed_forward(norm(tokens))`."""
    branch = functools.partial(
        feed_forward, mlp_dim=mlp_dim, dropout_rate=dropout_rate, name=f"{name}_mlp", activation=activation
    )
    return residual(tokens, norm(f"{name}_mlp_norm"), branch, f"{name}_mlp", drop_rate)


def feed_forward(tokens, mlp_dim, dropout_rate, name, activation="gelu"):
    """Two Dense layers with an activation between, an exact GELU by default.

    The second gives back the width of the tokens.
    """
    function = quick_gelu if activation == "quick_gelu" else activation  # Keras has no such name
    hidden = layers.Activation(function, name=f"{name}_{activation}")(
        layers.Dense(mlp_dim, name=f"{name}_hidden")(tokens)
    )
    hidden = layers.Dropout(dropout_rate, name=f"{name}_hidden_dropout")(hidden)
    return layers.Dropout(dropout_rate, name=f"{name}_dropout")(
        layers.Dense(tokens.shape[-1], name=f"{name}_output")(hidden)
    )


def patch_embedding(image, patch_size, hidden_dim, stride=None):
    """Patches as a strided convolution: tokens in row-major order, and the map that they are taken from."""
    maps = layers.Conv2D(hidden_dim, patch_size, stride or patch_size, name="patch_embedding")(image)
    return flatten(maps, "patch_tokens"), maps


def embed(image, embedding, patch_size, hidden_dim, stride):
    """Tokens of an image, and the map that they are taken from.

    Args:
        image: KerasTensor `(batch, height, width, channels)`.
        embedding: str, `"patches"`, or `"convolutions"`: three without activation, of the hybrid X-formers.
        patch_size: int, in pixels.
        hidden_dim: int, length of a token.
        stride: int, of the first convolution in pixels.

    Returns:
        KerasTensors `(batch, height * width, hidden_dim)` and `(batch, height, width, hidden_dim)`.
    """
    if embedding == "patches":
        return patch_embedding(image, patch_size, hidden_dim)
    for i, (filters, step) in enumerate(((32, stride), (64, 1), (hidden_dim, 1))):
        image = convolution(image, filters, 3, step, True, f"embedding_conv{i}")
    return flatten(image, "map_tokens"), image


def convolution(maps, filters, kernel_size, stride, use_bias, name, groups=1, padding="symmetric"):
    """A convolution; with symmetric padding of half the kernel, as PyTorch programs pad, see `_padded`."""
    maps, padding = _padded(maps, kernel_size, stride, name, padding)
    return layers.Conv2D(filters, kernel_size, stride, padding, groups=groups, use_bias=use_bias, name=name)(
        maps
    )


def depthwise_convolution(
    maps, kernel_size, stride, multiplier, use_bias, name, padding="symmetric", dilation=1
):
    """A depthwise convolution, padded as `convolution`; a channel makes `multiplier` consecutive ones."""
    maps, padding = _padded(maps, kernel_size, stride, name, padding)
    return layers.DepthwiseConv2D(
        kernel_size, stride, padding, depth_multiplier=multiplier, dilation_rate=dilation,
        use_bias=use_bias, name=name,
    )(maps)  # fmt: skip


def two_convolutions(image, filters):
    """The stem of EfficientFormer and SwiftFormer: two convolutions of stride 2, half the filters first."""
    maps = image
    for i, width in enumerate((filters // 2, filters)):
        maps = convolution(maps, width, 3, 2, True, f"stem_conv{i}")
        maps = normalized(maps, f"stem_conv{i}", "relu")
    return maps


def downsampling(maps, filters, name):
    """The convolution of stride 2 between their stages."""
    return normalized(convolution(maps, filters, 3, 2, True, name), name)


def scaled_residual(inputs, branch, initial_value, name, drop_rate=0.0):
    """`inputs + scale * branch` with a learned scale of each channel; without it if there is no value."""
    if initial_value is not None:
        branch = LayerScale(initial_value, name=f"{name}_scale")(branch)
    return layers.Add(name=f"{name}_add")([inputs, dropped(branch, drop_rate, name)])


def max_pooling(maps, pool_size, stride, name):
    """Max pooling with symmetric zero padding, for maps without negative values."""
    maps, padding = _padded(maps, pool_size, stride, name)
    return layers.MaxPooling2D(pool_size, stride, padding, name=name)(maps)


def _padded(maps, size, stride, name, padding="symmetric"):
    """The maps, padded or not, and Keras' padding for them.

    Args:
        maps: KerasTensor `(batch, height, width, channels)`.
        size: int, of the kernel.
        stride: int.
        name: str, of the layer that reads the maps.
        padding: str, `"symmetric"`, half the kernel on all sides, as PyTorch programs pad; `"same"`, as
            TensorFlow pads, which for stride 2 means symmetric for odd sides and one less in front for even
            ones; or `"end"`, one less in front for all sides where the stride is 2.
    """
    if padding == "same" or (stride == 1 and size % 2):
        return maps, "same"
    if padding == "end":
        if 1 in maps.shape[1:3]:
            raise InputError(
                f"the image is too small: {name} gets a map of {maps.shape[1]} x {maps.shape[2]}, "
                f"which it cannot halve"
            )
        if not any(side % 2 for side in maps.shape[1:3]):
            return maps, "same"
    if size > 1:
        pads = (size // 2 - (padding == "end"), size // 2)
        maps = layers.ZeroPadding2D((pads, pads), name=f"{name}_pad")(maps)
    return maps, "valid"


def normalized(maps, name, activation=None, epsilon=1e-5):
    """Batch normalization and an activation, or none: what follows a convolution named `name`."""
    maps = layers.BatchNormalization(momentum=0.9, epsilon=epsilon, name=f"{name}_norm")(maps)
    return layers.Activation(activation, name=f"{name}_{activation}")(maps) if activation else maps


def inverted_residual(
    maps, filters, hidden_dim, kernel_size, stride, epsilon, activation, name,
    padding="symmetric", dilation=1, gate=None,
):  # fmt: skip
    """A convolution that widens the maps, a depthwise one, and one without activation that makes them narrow.

    Args:
        maps: KerasTensor `(batch, height, width, channels)`.
        filters: int, channels of the outputs.
        hidden_dim: int, channels between, or None for no first convolution.
        kernel_size: int, odd; of the depthwise convolution.
        stride: int, of the depthwise convolution.
        epsilon: float, added to the variance in each batch normalization.
        activation: str, behind all but the last convolution.
        name: str, what the names of the layers start with.
        padding: str, of the depthwise convolution, see `_padded`.
        dilation: int, of the depthwise convolution.
        gate: function from the depthwise convolution's outputs to what replaces them, or None.

    Returns:
        The outputs, without the addition of `maps`.
    """
    if hidden_dim is not None:
        maps = convolution(maps, hidden_dim, 1, 1, False, f"{name}_expand")
        maps = normalized(maps, f"{name}_expand", activation, epsilon)
    maps = depthwise_convolution(
        maps, kernel_size, stride, 1, False, f"{name}_depthwise", padding=padding, dilation=dilation
    )
    maps = normalized(maps, f"{name}_depthwise", activation, epsilon)
    maps = gate(maps) if gate else maps
    maps = convolution(maps, filters, 1, 1, False, f"{name}_project")
    return normalized(maps, f"{name}_project", epsilon=epsilon)


def rounded_width(width, divisor=8, minimum=None):
    """The multiple of `divisor` that is nearest to a number of channels, and not below 90 % of it."""
    rounded = max(minimum or divisor, int(width + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * width else rounded


def flatten(maps, name):
    """`(batch, height, width, channels)` to tokens `(batch, height * width, channels)`."""
    _, height, width, channels = maps.shape
    return layers.Reshape((height * width, channels), name=name)(maps)


def as_maps(tokens, grid, name):
    """The inverse of `flatten`: tokens `(batch, height * width, channels)` to maps of the size `grid`."""
    return layers.Reshape((*grid, tokens.shape[-1]), name=name)(tokens)


def map_of_tokens(tokens, class_tokens, grid, name):
    """The map of a sequence of tokens, without the class tokens in front.

    Args:
        tokens: KerasTensor `(batch, class_tokens + height * width, dim)`.
        class_tokens: int.
        grid: (height, width) of the map.
        name: str, what the names of the layers start with.

    Returns:
        KerasTensor `(batch, height, width, dim)`.
    """
    if class_tokens:
        tokens = TokenRange(class_tokens, name=f"{name}_tokens")(tokens)
    return as_maps(tokens, grid, f"{name}_maps")


def with_class_token(tokens, positions=True, count=1):
    """Class tokens in front, usually one; learned positions on all tokens if wanted."""
    tokens = ClassToken(count, name="class_token")(tokens)
    return PositionEmbedding(name="position_embedding")(tokens) if positions else tokens


def pool_tokens(tokens, class_tokens, grid, dim, name, pointwise=False):
    """Halves height and width of the map of tokens and widens tokens to `dim`.

    Class tokens go through a Dense layer.

    Args:
        tokens: KerasTensor `(batch, class_tokens + height * width, narrower dim)`.
        class_tokens: int, tokens in front of the map.
        grid: (height, width) of the map.
        dim: int, a multiple of the tokens' own.
        name: str, what the names of the layers start with.
        pointwise: bool, whether a convolution of size 1 follows the depthwise one.

    Returns:
        The tokens, and the (height, width) of their map.
    """
    front = TokenRange(0, class_tokens, name=f"{name}_class_tokens")(tokens)
    front = layers.Dense(dim, name=f"{name}_class_dense")(front)
    maps = map_of_tokens(tokens, class_tokens, grid, name)
    maps = depthwise_convolution(maps, 3, 2, dim // tokens.shape[-1], True, f"{name}_conv")
    tokens = flatten(maps, f"{name}_flatten")
    if pointwise:
        tokens = layers.Dense(dim, name=f"{name}_dense")(tokens)
    return JoinTokens(name=f"{name}_join")(front, tokens), maps.shape[1:3]


def pooled_class_tokens(tokens, norm, distilled=False):
    """The features that `classifier` reads: the normalized class token, and the distillation token.

    Args:
        tokens: KerasTensor `(batch, tokens, dim)`, the class token first, the distillation token second.
        norm: function from a name to a normalization layer.
        distilled: bool, whether there is a distillation token.

    Returns:
        dict with `pooled` and, if distilled, `pooled_distillation`, each `(batch, dim)`.
    """
    if not distilled:
        token = FirstToken(name="class_features_token")(tokens)
        token = layers.Reshape((tokens.shape[-1],), name="class_features")(token)
        return {"pooled": norm("head_norm")(token)}
    tokens = norm("head_norm")(TokenRange(0, 2, name="class_tokens")(tokens))
    features = {}
    for i, (feature, name) in enumerate((("pooled", "head"), ("pooled_distillation", "head_distillation"))):
        token = TokenRange(i, i + 1, name=f"{name}_token")(tokens)
        features[feature] = layers.Reshape((tokens.shape[-1],), name=f"{name}_features")(token)
    return features


def classifier(num_classes, dropout_rate=0.0, two_heads=False):
    """A classification head: a Dense layer on the pooled features.

    With a distillation token there are two, and the logits are their mean; each one's logits are the
    outputs of the layers `head` and `head_distillation`.

    Args:
        num_classes: int.
        dropout_rate: float in [0, 1), of the pooled features.
        two_heads: bool, whether both heads read the pooled features, without a distillation token.

    Returns:
        Function from a dict of features to logits `(batch, num_classes)`.
    """

    def answer(pooled, name):
        if dropout_rate:
            pooled = layers.Dropout(dropout_rate, name=f"{name}_dropout")(pooled)
        return layers.Dense(num_classes, name=name)(pooled)

    def head(features):
        logits = answer(features["pooled"], "head")
        second = features["pooled"] if two_heads else features.get("pooled_distillation")
        if second is None:
            return logits
        distilled = answer(second, "head_distillation")
        return layers.Average(name="mean_answer")([logits, distilled])

    return head


def layer_norm(epsilon):
    """A function from a name to a layer normalization."""
    return lambda name: layers.LayerNormalization(epsilon=epsilon, name=name)


def dense(units, use_bias=True):
    """A function from a name to a Dense layer."""
    return lambda name: layers.Dense(units, use_bias=use_bias, name=name)


def group_dense(groups, dim):
    """A function from a name to a Dense layer of its own for each group: kernel `(groups, dim, dim)`.

    Its initial weights are those of a Dense layer from `dim` to `dim`: the default initializer would
    count the outputs of all groups and make them smaller.
    """
    return lambda name: layers.EinsumDense(
        "bngi,gio->bngo",
        output_shape=(None, groups, dim),
        bias_axes="go",
        kernel_initializer=keras.initializers.VarianceScaling(1.0, "fan_in", "uniform"),
        name=name,
    )


def check_integer(name, value, minimum):
    """Checks an integer.

    Args:
        name: str, of the argument.
        value: what was given.
        minimum: int.

    Raises:
        ValueError: it is no Python integer, or below `minimum`.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise InputError(
            f"{name} has to be a Python integer of at least {minimum}; received {name}={value!r}"
        )


def check_positive(arguments, *names):
    """Checks integers that have to be at least 1.

    Args:
        arguments: dict of a constructor's arguments.
        *names: str, those to check.

    Raises:
        ValueError: one of them is no Python integer, or below 1.
    """
    for name in names:
        check_integer(name, arguments[name], 1)


def check_epsilon(name, value):
    """Checks a number that is added to a variance.

    Args:
        name: str, of the argument.
        value: what was given.

    Raises:
        ValueError: it is no positive number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise InputError(f"{name} has to be a positive number; received {name}={value!r}")


def check_rate(name, value):
    """Checks a dropout rate.

    Args:
        name: str, of the argument.
        value: what was given.

    Raises:
        ValueError: it is no number in [0, 1).
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise InputError(f"{name} has to be a number in [0, 1); received {name}={value!r}")


def check_numbers(name, values, count, minimum=0.0):
    """Checks a sequence of numbers.

    Args:
        name: str, of the argument.
        values: what was given.
        count: int, how many there have to be.
        minimum: float, which they have to be above.

    Raises:
        ValueError: it is no tuple of `count` numbers above `minimum`.
    """
    if (
        not isinstance(values, tuple)
        or len(values) != count
        or any(isinstance(n, bool) or not isinstance(n, int | float) or n <= minimum for n in values)
    ):
        raise InputError(
            f"{name} has to be a sequence of {count} numbers above {minimum:g}; received {name}={values!r}"
        )


def check_choice(name, value, choices):
    """Checks a choice.

    Args:
        name: str, of the argument.
        value: what was given.
        choices: tuple, what may be given.

    Raises:
        ValueError: `value` is none of them.
    """
    if value not in choices:
        raise InputError(
            f"{name} has to be one of {', '.join(map(repr, choices))}; received {name}={value!r}"
        )


def check_odd(name, value):
    """Checks the odd size of a kernel.

    Args:
        name: str, of the argument.
        value: what was given.

    Raises:
        ValueError: it is no odd Python integer of at least 1.
    """
    check_integer(name, value, 1)
    if value % 2 == 0:
        raise InputError(f"{name} has to be odd; received {name}={value}")


def check_stages(arguments, *names):
    """Checks sequences that have a positive integer for each stage.

    Args:
        arguments: dict of a constructor's arguments.
        *names: str, those to check.

    Raises:
        ValueError: one is no tuple of positive integers, or they differ in length.
    """
    for name in names:
        if not isinstance(arguments[name], tuple):
            raise InputError(
                f"{name} has to be a sequence of integers, one a stage; received {name}={arguments[name]!r}"
            )
        for value in arguments[name]:
            check_integer(f"each number of {name}", value, 1)
    if not arguments[names[0]] or len({len(arguments[name]) for name in names}) > 1:
        received = ", ".join(f"{name}={arguments[name]}" for name in names)
        raise InputError(f"{', '.join(names)} need one number for each stage; received {received}")


def check_embedding(embedding, input_shape, patch_size, stride):
    """Checks the arguments of `embed`.

    Args:
        embedding: str.
        input_shape: (height, width, channels) in pixels.
        patch_size: int, in pixels; 1 with convolutions.
        stride: int, of the first convolution in pixels; 1 with patches.

    Raises:
        ValueError: there is no such embedding, or images of `input_shape` cannot be embedded so.
    """
    check_choice("embedding", embedding, ("patches", "convolutions"))
    check_image_shape(input_shape, patch_size)
    check_integer("embedding_stride", stride, 1)
    if embedding == "patches" and stride != 1:
        raise InputError(
            "with patches there is no convolution with a stride: patch_size makes fewer tokens; "
            f"received embedding_stride={stride}"
        )
    if embedding == "convolutions" and patch_size != 1:
        raise InputError(
            f"with convolutions a token is one pixel, patch_size=1; received patch_size={patch_size}"
        )


def check_divides(name, divisor, of, whole):
    """Checks that one number divides another.

    Args:
        name: str, of the divisor.
        divisor: int.
        of: str, name of the number to divide.
        whole: int, the number to divide.

    Raises:
        ValueError: it does not.
    """
    if whole % divisor:
        raise InputError(f"{name} has to divide {of}; received {name}={divisor}, {of}={whole}")


def check_image_shape(input_shape, patch_size=1):
    """Checks the shape of an image.

    Args:
        input_shape: (height, width, channels) in pixels.
        patch_size: int, in pixels.

    Returns:
        Tuple (height, width, channels) of int.

    Raises:
        ValueError: it is none, or `patch_size` does not divide its sides.
    """
    shape = as_plain(input_shape)
    if not isinstance(shape, tuple) or len(shape) != 3 or not all(type(n) is int and n > 0 for n in shape):
        raise InputError(
            f"input_shape has to be (height, width, channels), three positive integers; "
            f"received input_shape={input_shape!r}"
        )
    check_integer("patch_size", patch_size, 1)
    if shape[0] % patch_size or shape[1] % patch_size:
        raise InputError(
            f"patch_size has to divide height and width; "
            f"received patch_size={patch_size}, input_shape={shape}"
        )
    return shape
