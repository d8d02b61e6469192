"""Passes follow models inside of a model, as they are built for transfer learning."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.quantized_layers import QuantizedConv2D, QuantizedDense
from hsvit_keras.compression.ranges import ranges_of

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, (8, 16, 16, 3)).astype("float32")


def backbone():
    image = keras.Input((16, 16, 3))
    maps = layers.Conv2D(8, 3, padding="same", use_bias=False, name="conv")(image)
    maps = layers.ReLU(name="relu")(layers.BatchNormalization(name="norm")(maps))
    maps = layers.Add(name="add")([maps, layers.Conv2D(8, 1, name="residual")(maps)])
    model = keras.Model(image, maps, name="backbone")
    model.get_layer("norm").set_weights([RNG.uniform(0.5, 1.5, 8) for _ in range(4)])
    return model


def transfer():
    """As in Keras' guide: a frozen backbone, called for inference, below a new head."""
    inside = backbone()
    inside.trainable = False
    image = keras.Input((16, 16, 3), name="image")
    maps = inside(layers.Rescaling(1 / 127.5, -1, name="rescaling")(image), training=False)
    pooled = layers.Dropout(0.2, name="dropout")(layers.GlobalAveragePooling2D(name="pool")(maps))
    return keras.Model(image, layers.Dense(5, name="head")(pooled), name="transfer")


def in_sequential():
    head = [layers.GlobalAveragePooling2D(name="pool"), layers.Dense(5, name="head")]
    return keras.Sequential([keras.Input((16, 16, 3)), backbone(), *head], name="sequence")


def deep():
    """A backbone two models down."""
    image = keras.Input((16, 16, 3))
    middle = keras.Model(image, layers.ReLU(name="relu")(backbone()(image)), name="middle")
    image = keras.Input((16, 16, 3))
    maps = layers.GlobalAveragePooling2D(name="pool")(middle(image))
    return keras.Model(image, layers.Dense(5, name="head")(maps), name="deep")


def siamese():
    """Two calls of one backbone."""
    left, right = keras.Input((16, 16, 3), name="left"), keras.Input((16, 16, 3), name="right")
    inside = backbone()
    maps = layers.Subtract(name="difference")([inside(left), inside(right)])
    maps = layers.GlobalAveragePooling2D(name="pool")(maps)
    return keras.Model([left, right], layers.Dense(5, name="head")(maps), name="siamese")


MODELS = (transfer, in_sequential, deep)


def outputs(model, images=IMAGES):
    return np.asarray(model(images, training=False))


def close(found, expected):
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


def test_a_graph_reads_through_models():
    graph = Graph(transfer())
    paths = [graph.path(layer) for layer in graph.layers]
    assert paths == [
        "image", "rescaling", "backbone/conv", "backbone/norm", "backbone/relu", "backbone/residual",
        "backbone/add", "pool", "dropout", "head",
    ]  # fmt: skip
    by_path = dict(zip(paths, graph.layers, strict=True))
    assert graph.producers(by_path["backbone/conv"]) == [by_path["rescaling"]]
    assert graph.producers(by_path["pool"]) == [by_path["backbone/add"]]
    assert graph.consumers(by_path["backbone/add"]) == [by_path["pool"]]
    assert graph.is_output(by_path["head"]) and not graph.is_output(by_path["backbone/add"])
    assert graph.is_called_once(by_path["backbone/conv"])


def test_layers_of_a_model_that_is_called_twice():
    graph = Graph(siamese())
    conv = next(layer for layer in graph.layers if graph.path(layer) == "backbone/conv")
    assert not graph.is_called_once(conv)
    assert [layer.name for layer in graph.producers(conv)] == ["left", "right"]


@pytest.mark.parametrize("make", MODELS)
def test_folding(make):
    model = make()
    folded = hsvit_keras.fold_batch_norm(model)
    graph = Graph(folded)
    assert not any(isinstance(layer, layers.BatchNormalization) for layer in graph.layers)
    close(outputs(folded), outputs(model))
    inner = [layer.name for layer in model.layers if isinstance(layer, keras.Model)]
    assert [layer.name for layer in folded.layers if isinstance(layer, keras.Model)] == inner


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("make", MODELS)
def test_quantization(make):
    model = make()
    quantized = hsvit_keras.calibrate(model, [IMAGES])
    kinds = [type(layer) for layer in Graph(quantized).layers]
    assert kinds.count(QuantizedConv2D) == 2 and kinds.count(QuantizedDense) == 1
    assert all(float(layer.observed_batches) for layer in ranges_of(quantized))
    expected, found = outputs(model), outputs(quantized)
    assert 0 < np.abs(found - expected).max() < 0.05 * np.abs(expected).max()
    close(outputs(hsvit_keras.remove_quantization(quantized)), expected)


def test_a_model_of_nested_layers_alone():
    image = keras.Input((16, 16, 3))
    quantized = hsvit_keras.quantize_aware(keras.Model(image, backbone()(image)))
    assert sum(isinstance(layer, QuantizedConv2D) for layer in Graph(quantized).layers) == 2


@pytest.mark.parametrize("skip", ["backbone", "backbone/conv"])
def test_skip_names_a_model_or_a_layer_of_it(skip):
    quantized = hsvit_keras.quantize_aware(transfer(), skip=(skip,))
    graph = Graph(quantized)
    kinds = {graph.path(layer): type(layer) for layer in graph.layers}
    assert kinds["backbone/conv"] is layers.Conv2D and kinds["head"] is QuantizedDense
    expected = layers.Conv2D if skip == "backbone" else QuantizedConv2D
    assert kinds["backbone/residual"] is expected


def test_frozen_backbones_stay_frozen(tmp_path):
    model = transfer()
    for copy in (hsvit_keras.fold_batch_norm(model), hsvit_keras.quantize_aware(model)):
        assert [weight.path.rpartition("/")[2] for weight in copy.trainable_weights] == ["kernel", "bias"]
        assert not copy.get_layer("backbone").trainable
        assert not copy.get_layer("backbone").get_layer("conv").trainable
        copy.save(tmp_path / "copy.keras")
        loaded = keras.models.load_model(tmp_path / "copy.keras")
        np.testing.assert_array_equal(outputs(loaded), outputs(copy))
        assert len(loaded.trainable_weights) == 2


def test_two_calls_of_one_model():
    model = siamese()
    images = [IMAGES, IMAGES[::-1]]
    copy = hsvit_keras.fold_batch_norm(model)
    close(outputs(copy, images), outputs(model, images))
    quantized = hsvit_keras.quantize_aware(model)
    assert len(quantized.get_layer("backbone").get_layer("conv").weights) == 2


def test_slimming():
    model = transfer()
    parts = hsvit_keras.slimmable_parts(model)
    assert parts["kernels"] == {}  # both convolutions feed the residual
    image = keras.Input((16, 16, 3))
    inside = keras.Sequential(
        [keras.Input((16, 16, 3)), layers.Conv2D(8, 3, name="conv"), layers.Conv2D(4, 3, name="next")],
        name="inside",
    )
    model = keras.Model(image, layers.Dense(5, name="head")(layers.Flatten()(inside(image))))
    assert hsvit_keras.slimmable_parts(model)["kernels"] == {"inside/conv": 8, "inside/next": 4}
    slimmed = hsvit_keras.slim(model, kernels={"inside/conv": [0, 2, 5]})
    conv, following = (model.get_layer("inside").get_layer(name) for name in ("conv", "next"))
    removed = [1, 3, 4, 6, 7]
    kernel = np.array(following.kernel)
    kernel[:, :, removed] = 0
    following.kernel.assign(kernel)
    close(outputs(slimmed), outputs(model))
    assert slimmed.get_layer("inside").get_layer("conv").filters == 3 and conv.filters == 8


def test_pruning_sees_the_kernels_inside():
    model = transfer()
    model.trainable = True
    model.compile("sgd", "mse")
    callback = hsvit_keras.prune(model, hsvit_keras.ConstantSparsity(0.5, 0))
    model.fit(IMAGES, np.zeros((8, 5)), verbose=0, callbacks=[callback])
    kernel = np.asarray(model.get_layer("backbone").get_layer("residual").kernel)
    assert (kernel == 0).mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.tensorflow
@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("preset", ["float32", "int8"])
def test_artifacts(make, preset, tmp_path):
    model = make()
    calibration = [IMAGES] if preset == "int8" else None
    path = tmp_path / "model.tflite"
    report = hsvit_keras.to_tflite(
        model, path, preset=preset, calibration=calibration,
        samples=hsvit_keras.Samples(IMAGES),
    )  # fmt: skip
    assert report["fully_delegated"] and report["partitions"] == 1
    if preset == "int8":
        integer = {"CONV_2D", "FULLY_CONNECTED"}
        ops = hsvit_keras.inspect_tflite(path)["ops"]
        assert integer <= {op["name"] for op in ops} if isinstance(ops, list) else integer <= set(ops)
