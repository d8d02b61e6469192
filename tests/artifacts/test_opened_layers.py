"""Artifacts of models with Keras' own attention, patches and EinsumDense layers."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from tests.artifacts.running import kernels_of, outputs_of, random_images
from tests.parameters import slow_but

pytestmark = pytest.mark.tensorflow


def added_layer(x):
    return hsvit_keras.layers.PositionEmbedding()(x)


def added_constant(x):
    return layers.Add()([x, layers.Embedding(16, 12)(ops.arange(16)[None])])


def added_by_operation(x):
    return x + layers.Embedding(16, 12)(ops.arange(16))


class Encoder(layers.Layer):
    """Of Keras' example of image classification: a projection and positions within one layer."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.projection = layers.Dense(12)
        self.position = layers.Embedding(16, 12)

    def build(self, input_shape):
        self.projection.build(input_shape)
        self.position.build()
        self.built = True

    def call(self, patches):
        return self.projection(patches) + self.position(ops.expand_dims(ops.arange(0, 16, 1), 0))


def embedded(positions):
    return lambda patches: positions(layers.Dense(12)(patches))


def vision_transformer(embed):
    image = keras.Input((16, 16, 3), name="image")
    x = embed(ops.reshape(ops.image.extract_patches(image, 4), (-1, 16, 48)))
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(3, 5, dropout=0.1)(y, y)])
        y = layers.Dense(24, "gelu")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(12)(y)])
    x = layers.Dropout(0.5)(layers.Flatten()(layers.LayerNormalization()(x)))
    return keras.Model(image, layers.Dense(10)(layers.Dense(20, "gelu")(x)))


def nested():
    image = keras.Input((16, 16, 3), name="image")
    inside = vision_transformer(embedded(added_layer))
    return keras.Model(image, layers.Dense(7)(inside(layers.Rescaling(1 / 127.5, -1)(image))))


MODELS = {
    "own positions": (lambda: vision_transformer(embedded(added_layer)), []),
    "stock positions": (lambda: vision_transformer(embedded(added_constant)), []),
    "positions by an operation": (lambda: vision_transformer(embedded(added_by_operation)), []),
    "encoder": (lambda: vision_transformer(lambda x: Encoder()(x)), []),
    "nested": (nested, []),
}
ATTENTION_KERNELS = [12 * 15] * 4


@pytest.mark.filterwarnings("ignore:the scheme has no entry for")
@pytest.mark.parametrize("preset", slow_but(["int8"], ["float32", "int8"]))
@pytest.mark.parametrize("name", slow_but(["nested"], MODELS))
def test_vision_transformers(name, preset, tmp_path):
    make, opaque = MODELS[name]
    model = make()
    images = random_images(model)
    path = tmp_path / "model.tflite"
    report = hsvit_keras.to_tflite(
        model, path, preset=preset, calibration=[images] if preset == "int8" else None,
        samples=hsvit_keras.Samples(images),
    )  # fmt: skip
    assert report["partitions"] == 1 and report["fully_delegated"]
    sizes = kernels_of(path.read_bytes())
    if preset == "int8":
        assert sizes["float32"] == opaque
        assert sizes["int8"].count(12 * 15) == 2 * 4  # projections of attention
    else:
        assert sizes["int8"] == []
        assert "MATRIX_DIAG" not in report["ops"]
        assert report["parity"]["max_abs_diff"] < 1e-5


EINSUM = {
    "heads": ("abc,cde->abde", (8,), (4, 2, 3), "de"),
    "heads of one bias": ("abc,cde->abde", (8,), (4, 2, 3), "e"),
    "heads in front": ("btd,ndh->btnh", (8,), (4, 2, 3), "nh"),
    "joined": ("abcd,cde->abe", (2, 4), (4, 6), "e"),
    "joined the other way": ("abcd,dce->abe", (2, 4), (4, 6), "e"),
    "any rank": ("...x,xy->...y", (8,), 6, None),
    "last of two axes": ("abcd,de->abce", (2, 4), (4, 2, 6), "e"),
}


@pytest.mark.parametrize("form", slow_but(["heads", "joined", "any rank"], EINSUM))
def test_einsum_dense_computes_with_integers(form):
    equation, shape, output_shape, bias_axes = EINSUM[form]
    x = image = keras.Input((4, 4, 3))
    x = layers.Reshape((4, *shape))(layers.Conv2D(8, 2, 2)(x))
    x = layers.EinsumDense(equation, output_shape, bias_axes=bias_axes, name="einsum")(x)
    model = keras.Model(image, layers.Dense(5)(layers.Flatten()(x)))
    model.set_weights([np.random.default_rng(0).normal(size=w.shape) for w in model.get_weights()])
    images = random_images(model)
    for preset in ("float32", "int8"):
        computed = hsvit_keras.calibrate(model, [images]) if preset == "int8" else model
        content, report = converted(computed, preset)
        kernel = int(np.prod(model.get_layer("einsum").kernel.shape))
        assert kernel in kernels_of(content)[preset]
        assert report["partitions"] == 1
        assert "BATCH_MATMUL" not in report["ops"]
        if preset == "int8":
            assert kernels_of(content)["float32"] == []
        expected = np.asarray(computed(images, training=False))
        step = np.ptp(expected) / 255 if preset == "int8" else 1e-5 * np.abs(expected).max()
        assert np.abs(outputs_of(content, images) - expected).max() <= 1.01 * step


def test_einsum_dense_with_a_bias_a_token_stays_float():
    x = image = keras.Input((4, 4, 3))
    x = layers.Reshape((4, 8))(layers.Conv2D(8, 2, 2)(x))
    x = layers.EinsumDense("bti,io->bto", (4, 6), bias_axes="to")(x)
    model = keras.Model(image, layers.Dense(5)(layers.Flatten()(x)))
    model.set_weights([np.random.default_rng(0).normal(size=w.shape) for w in model.get_weights()])
    images = random_images(model)
    quantized = hsvit_keras.calibrate(model, [images])
    content, report = converted(quantized, "int8")
    assert kernels_of(content) == {"int8": [2 * 2 * 3 * 8, 4 * 6 * 5], "float32": [8 * 6]}
    assert report["partitions"] == 1
    expected = np.asarray(quantized(images, training=False))
    assert np.abs(outputs_of(content, images) - expected).max() <= 1.01 * np.ptp(expected) / 255


def converted(model, preset):
    from hsvit_keras.artifacts.lowering import lower
    from hsvit_keras.artifacts.tflite_conversion import convert

    content = convert(lower(model), preset)
    return content, hsvit_keras.inspect_tflite(content)


@pytest.mark.filterwarnings("ignore:the scheme has no entry for")
@pytest.mark.parametrize("arguments", [{"use_causal_mask": True}, {}], ids=["causal", "skipped"])
@pytest.mark.parametrize("cross", slow_but([True], [True, False]), ids=["cross", "self"])
def test_attention_that_stays_float_between_integers(arguments, cross):
    image = keras.Input((4, 4, 3))
    tokens = [layers.Reshape((4, 8))(layers.Conv2D(8, 2, 2)(image)) for _ in range(3 if cross else 1)]
    query, value, key = tokens if cross else tokens * 3
    x = layers.MultiHeadAttention(2, 4, name="mha")(query, value, key, **arguments)
    model = keras.Model(image, layers.Dense(5)(layers.Flatten()(layers.Dense(6)(x))))
    images = random_images(model)
    quantized = hsvit_keras.quantize_aware(model, skip=[] if arguments else ["mha"])
    hsvit_keras.calibrate(quantized, [images])
    content, report = converted(quantized, "int8")
    assert kernels_of(content)["float32"] == [64] * 4
    assert report["flex_ops"] == []
    expected = np.asarray(quantized(images, training=False))
    assert np.abs(outputs_of(content, images) - expected).max() <= 2.01 * np.ptp(expected) / 255
