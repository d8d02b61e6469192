"""Random models of Keras' own layers, to take through all passes."""

import itertools

import keras
import numpy as np
from keras import layers, ops

ACTIVATIONS = (
    None, "relu", "relu6", "gelu", "silu", "sigmoid", "tanh", "elu", "selu", "hard_sigmoid", "hard_swish",
    "leaky_relu", "softplus", "softsign", "mish",
)  # fmt: skip
SMALLEST, LARGEST = 3, 14  # sides of maps between which steps may shrink and grow them
MOST_CHANNELS = 12


def random_model(seed, num_steps=9):
    """A model of one image input and one to three outputs, with weights as after training.

    Args:
        seed: int.
        num_steps: int, how many layers, blocks or operations it has.
    """
    rng = np.random.default_rng(seed)
    image = keras.Input((int(rng.integers(8, 13)), int(rng.integers(8, 13)), int(rng.choice([1, 3, 4]))))
    tensors = [_convolution(rng, image)]
    for _ in range(num_steps):
        tensors.append(_step(rng, tensors[-1 if rng.random() < 0.8 else rng.integers(len(tensors))]))
    heads = [_head(rng, x) for x in tensors[-1 : -1 - int(rng.integers(1, 4)) : -1]]
    outputs = dict(zip("abc", heads, strict=False)) if rng.random() < 0.3 else heads
    model = keras.Model(image, heads[0] if len(heads) == 1 else outputs, name=f"random{seed}")
    return with_trained_weights(rng, model)


def with_trained_weights(rng, model):
    """Gives a model weights as after training: no bias is zero, no gain is one."""
    for layer in {id(x): x for x in model._flatten_layers() if not list(x._flatten_layers())[1:]}.values():
        if isinstance(layer, layers.BatchNormalization):
            weights = [rng.uniform(0.5, 1.5, weight.shape) for weight in layer.weights]
        else:
            weights = [weight + rng.normal(0, 0.1, weight.shape) for weight in layer.get_weights()]
        layer.set_weights(weights)
    return model


def _step(rng, x):
    """One step more behind a tensor, of those that fit its shape."""
    steps = {4: OF_MAPS, 3: OF_SEQUENCES, 2: OF_FEATURES}[len(x.shape)]
    for step in rng.permutation(len(steps)):
        if (y := steps[step](rng, x)) is not None:
            return y
    return layers.Identity()(x)


def _head(rng, x):
    if len(x.shape) > 2 and rng.random() < 0.3 and np.prod(x.shape[1:]) < 400:
        x = layers.Flatten()(x)
    elif len(x.shape) > 2 and rng.random() < 0.2:
        return x
    elif len(x.shape) == 4:
        x = layers.GlobalAveragePooling2D(keepdims=bool(rng.random() < 0.2))(x)
    elif len(x.shape) == 3:
        x = layers.GlobalAveragePooling1D()(x)
    return layers.Dense(int(rng.integers(2, 6)), activation=rng.choice(["linear", "softmax", "sigmoid"]))(x)


def _units(rng):
    return int(rng.integers(2, 7))


def _activation(rng):
    return ACTIVATIONS[rng.integers(len(ACTIVATIONS))]


def _padding(rng, x, size=3):
    can_shrink = min(x.shape[1:-1]) >= SMALLEST + size - 1
    return "valid" if can_shrink and rng.random() < 0.4 else "same"


def _of(layer):
    """A step of one layer of any shape, given its class and arguments."""
    return lambda rng, x: layer()(x)


def _with_activation(make):
    return lambda rng, x: make(_activation(rng))(x)


# ---- maps (batch, height, width, channels) ---------------------------------------------------------
def _convolution(rng, x, kind=layers.Conv2D, **settings):
    strides = 2 if min(x.shape[1:-1]) >= 2 * SMALLEST and rng.random() < 0.2 else 1
    dilation = 2 if strides == 1 and min(x.shape[1:-1]) > 5 and rng.random() < 0.2 else 1
    settings = {
        "kernel_size": int(rng.integers(1, 4)), "strides": strides, "dilation_rate": dilation,
        "padding": "same" if dilation > 1 else _padding(rng, x), "use_bias": bool(rng.random() < 0.7),
        "activation": _activation(rng), **settings,
    }  # fmt: skip
    if "Depthwise" in kind.__name__:
        return kind(depth_multiplier=int(rng.integers(1, 3)), **settings)(x) if x.shape[-1] < 8 else None
    return kind(_units(rng), **settings)(x)


def _of_kind(kind, **settings):
    return lambda rng, x: _convolution(rng, x, kind, **settings)


def _grouped(rng, x):
    channels = x.shape[-1]
    groups = [g for g in range(2, channels + 1) if channels % g == 0]
    if not groups:
        return None
    groups = int(rng.choice(groups))
    return layers.Conv2D(groups * int(rng.integers(1, 3)), 3, padding="same", groups=groups)(x)


def _transposed(rng, x):
    if max(x.shape[1:-1]) > LARGEST // 2:
        return None
    return layers.Conv2DTranspose(_units(rng), 3, strides=int(rng.integers(1, 3)), padding="same")(x)


def _pooling(kind):
    def step(rng, x):
        if min(x.shape[1:-1]) < 2 * SMALLEST:
            return None
        return kind(int(rng.integers(2, 4)), strides=2, padding=str(rng.choice(["valid", "same"])))(x)

    return step


def _upsampling(rng, x):
    if max(x.shape[1:-1]) > LARGEST // 2:
        return None
    return layers.UpSampling2D(2, interpolation=str(rng.choice(["nearest", "bilinear"])))(x)


def _cropping(rng, x):
    return layers.Cropping2D(((1, 0), (0, 1)))(x) if min(x.shape[1:-1]) > SMALLEST else None


def _padded(rng, x):
    return layers.ZeroPadding2D(((1, 0), (1, 1)))(x) if max(x.shape[1:-1]) < LARGEST else None


def _group_normalization(rng, x):
    groups = [g for g in range(1, x.shape[-1] + 1) if x.shape[-1] % g == 0]
    return layers.GroupNormalization(int(rng.choice(groups)))(x)


def _squeeze_and_excite(rng, x):
    channels = x.shape[-1]
    means = layers.GlobalAveragePooling2D(keepdims=True)(x)
    hidden = layers.Conv2D(_units(rng), 1, activation="relu")(means)
    return layers.Multiply()([x, layers.Conv2D(channels, 1, activation="sigmoid")(hidden)])


def _tokens(rng, x):
    return layers.Reshape((x.shape[1] * x.shape[2], x.shape[3]))(x)


def _tokens_by_operation(rng, x):
    return ops.reshape(x, (-1, x.shape[1] * x.shape[2], x.shape[3]))


def _global_pooling(rng, x):
    return rng.choice([layers.GlobalAveragePooling2D, layers.GlobalMaxPooling2D])()(x)


def _mean_of_pixels(rng, x):
    return ops.mean(x, axis=(1, 2))


# ---- any shape -------------------------------------------------------------------------------------
def _branch(rng, x):
    """Another tensor of the same shape."""
    if rng.random() < 0.3:
        return rng.choice([layers.ReLU, layers.BatchNormalization, layers.LayerNormalization])()(x)
    if len(x.shape) == 4:
        return layers.Conv2D(x.shape[-1], 3, padding="same", activation=_activation(rng))(x)
    return layers.Dense(x.shape[-1], activation=_activation(rng))(x)


def _merge(kind):
    return lambda rng, x: kind()([x, _branch(rng, x)][:: int(rng.choice([1, -1]))])


def _concatenation(rng, x):
    return layers.Concatenate()([x, _branch(rng, x)]) if x.shape[-1] <= MOST_CHANNELS // 2 else None


def _concatenation_by_operation(rng, x):
    return ops.concatenate([x, ops.tanh(x)], axis=-1) if x.shape[-1] <= MOST_CHANNELS // 2 else None


def _residual_by_operations(rng, x):
    return ops.relu(x + 0.5 * _branch(rng, x)) - 0.1


def _gelu_by_operation(rng, x):
    return ops.gelu(x * 2 - 1)


def _nested(rng, x):
    inside = keras.Input(x.shape[1:])
    outputs = _step(rng, _branch(rng, inside))
    return keras.Model(inside, outputs, name=f"inside{rng.integers(1 << 30)}")(x)


def _nested_sequential(rng, x):
    units = layers.Dense(_units(rng))
    return keras.Sequential([keras.Input(x.shape[1:]), units, layers.LeakyReLU(0.1)])(x)


def _shared(rng, x):
    layer = layers.Dense(x.shape[-1], activation=_activation(rng))
    return layers.Add()([layer(x), layer(layers.BatchNormalization()(x))])


def _activation_layer(rng, x):
    return rng.choice([
        layers.ReLU, layers.LeakyReLU, layers.ELU, layers.PReLU, layers.Softmax,
        lambda: layers.PReLU(shared_axes=list(range(1, len(x.shape) - 1))), lambda: layers.ReLU(6),
        lambda: layers.Activation(_activation(rng) or "linear"),
    ])()(x)  # fmt: skip


def _dropout(rng, x):
    spatial = {3: layers.SpatialDropout1D, 4: layers.SpatialDropout2D}.get(len(x.shape), layers.Dropout)
    return rng.choice([layers.Dropout, layers.GaussianDropout, layers.GaussianNoise, spatial])(0.2)(x)


def _rescaling(rng, x):
    return layers.Rescaling(0.5, 0.1)(x)


# ---- sequences (batch, tokens, features) -----------------------------------------------------------
def _attention(rng, x):
    kinds = [layers.MultiHeadAttention(2, 3), layers.GroupQueryAttention(3, 2, 1)]
    return layers.Add()([x, kinds[rng.integers(2)](x, x)])


def _einsum(rng, x):
    return layers.EinsumDense("abc,cd->abd", (x.shape[1], _units(rng)), bias_axes="d")(x)


def _transposed_tokens(rng, x):
    return layers.Permute((2, 1))(x) if x.shape[1] <= MOST_CHANNELS else None


def _transposed_by_operation(rng, x):
    return ops.transpose(x, (0, 2, 1)) if x.shape[1] <= MOST_CHANNELS else None


def _longer(rng, x):
    if x.shape[1] > 2 * LARGEST:
        return None
    return rng.choice([layers.UpSampling1D(2), layers.ZeroPadding1D((1, 2))])(x)


def _shorter(rng, x):
    return layers.Cropping1D((1, 0))(x) if x.shape[1] > SMALLEST else None


def _pooled(rng, x):
    return rng.choice([layers.GlobalAveragePooling1D, layers.GlobalMaxPooling1D, layers.Flatten])()(x)


def _maps(rng, x):
    sides = [side for side in range(SMALLEST, LARGEST) if x.shape[1] % side == 0]
    sides = [side for side in sides if SMALLEST <= x.shape[1] // side <= LARGEST]
    if not sides:
        return None
    side = int(rng.choice(sides))
    return layers.Reshape((side, x.shape[1] // side, x.shape[2]))(x)


# ---- features (batch, features) --------------------------------------------------------------------
def _dense(rng, x):
    return layers.Dense(_units(rng), activation=_activation(rng), use_bias=bool(rng.random() < 0.7))(x)


def _unflattened(rng, x):
    return layers.Reshape((x.shape[1] // 2, 2))(x) if x.shape[1] % 2 == 0 and x.shape[1] > 5 else None


OF_ANY = (
    _activation_layer, _dropout, _rescaling, _concatenation, _concatenation_by_operation,
    _residual_by_operations, _gelu_by_operation, _nested, _nested_sequential, _shared, _dense,
    _of(layers.BatchNormalization), _of(layers.LayerNormalization), _of(layers.Identity),
    *map(_merge, (layers.Add, layers.Multiply, layers.Subtract, layers.Average, layers.Maximum,
                  layers.Minimum)),
)  # fmt: skip
OF_MAPS = (
    *OF_ANY, *itertools.repeat(_convolution, 4), _of_kind(layers.SeparableConv2D),
    *itertools.repeat(_of_kind(layers.DepthwiseConv2D), 2), _grouped, _transposed,
    _pooling(layers.MaxPooling2D), _pooling(layers.AveragePooling2D), _upsampling, _cropping, _padded,
    _group_normalization, _squeeze_and_excite, _tokens, _tokens_by_operation, _global_pooling,
    _mean_of_pixels,
)  # fmt: skip
OF_SEQUENCES = (
    *OF_ANY, _of_kind(layers.Conv1D), _of_kind(layers.SeparableConv1D), _of_kind(layers.DepthwiseConv1D),
    _pooling(layers.MaxPooling1D), _pooling(layers.AveragePooling1D), _attention, _attention, _einsum,
    _transposed_tokens, _transposed_by_operation, _longer, _shorter, _pooled, _maps,
)  # fmt: skip
OF_FEATURES = (*OF_ANY, _dense, _unflattened)
