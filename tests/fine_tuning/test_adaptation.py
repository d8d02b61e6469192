"""A trained model with another head: its trunk computes what it did, at its size and at others."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.checkpoints.interpolation import interpolate
from hsvit_keras.fine_tuning import head_layers, resizing_for
from hsvit_keras.layers.model_description import describe, description_of
from hsvit_runtime.errors import InputError
from tests import reference
from tests.checkpoints.test_input_sizes import folder_of
from tests.models.small import grown_model, small_model


def features(model):
    """What the head of a model reads, for the same pixels in each call."""
    head = next(layer for layer in model._flatten_layers() if layer.name == "head")
    pixels = np.random.default_rng(0).uniform(0, 255, (2, *model.input_shape[1:])).astype("float32")
    return np.asarray(keras.Model(model.input, head.input)(pixels))


# ---- models of this package ------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["deit_tiny_distilled", "hsvit_tiny"])
def test_the_trunk_is_taken_over_and_the_head_is_new(name):
    model = grown_model(name, mean=0.5, std=0.25, class_names=tuple("abcde"), data_set="digits")
    tuned = hsvit_keras.adapt(model, num_classes=3, class_names=("x", "y", "z"), data_set="cifar10")
    assert type(tuned) is type(model) and tuned.output_shape == (None, 3)
    np.testing.assert_array_equal(features(tuned), features(model))
    said = description_of(tuned)
    assert (said.class_names, said.data_set, said.input_range) == (("x", "y", "z"), "cifar10", (0, 255))
    again = type(tuned).from_config(tuned.get_config())
    assert [weight.shape for weight in again.weights] == [weight.shape for weight in tuned.weights]


def test_what_was_frozen_is_trained_and_arguments_may_differ():
    model = small_model("deit_tiny", mean=0.5, std=0.5)
    model.get_layer("block0_mlp_hidden").trainable = False
    tuned = hsvit_keras.adapt(model, num_classes=5, stochastic_depth_rate=0.3)
    assert len(tuned.trainable_variables) == len(tuned.variables) - sum(
        "seed" in variable.path for variable in tuned.variables
    )
    assert tuned.stochastic_depth_rate == 0.3
    with pytest.raises(InputError, match="has no argument 'depht'; did you mean 'depth'"):
        hsvit_keras.adapt(model, num_classes=5, depht=3)


@pytest.mark.parametrize("fixture", ["hf_deit_teacher", "hf_efficientformer"])
@pytest.mark.slow_on_jax
def test_another_size_is_that_of_the_checkpoint_at_this_size(fixture, tmp_path):
    """Whose weights are interpolated from its own tensors, as the library transformers does it."""
    folder = folder_of(tmp_path, reference.load(fixture))
    model = hsvit_keras.from_transformers(folder)
    height, width, channels = model.input_shape[1:]
    shape = (2 * height, width, channels)
    tuned = hsvit_keras.adapt(model, num_classes=3, input_shape=shape, input_range=(0, 1))
    expected = hsvit_keras.from_transformers(folder, input_shape=shape)
    differ = 0
    for layer in expected.layers:
        if layer.name not in ("head", "head_distillation"):
            differ += [w.shape for w in layer.weights] != [
                w.shape for w in model.get_layer(layer.name).weights
            ]
            for ours, theirs in zip(tuned.get_layer(layer.name).weights, layer.weights, strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-6)
    assert differ == 1


def test_as_many_patches_in_another_order_are_interpolated():
    model = grown_model("deit_tiny", mean=0.5, std=0.5)  # 4 x 4 patches
    tuned = hsvit_keras.adapt(model, num_classes=5, input_shape=(8, 32, 3))
    (old,), (new,) = (m.get_layer("position_embedding").get_weights() for m in (model, tuned))
    np.testing.assert_array_equal(new[0], old[0])
    expected = interpolate(old[1:].reshape(4, 4, -1), (2, 8), "bicubic")
    np.testing.assert_allclose(new[1:], expected.reshape(16, -1), atol=1e-6)


def test_the_pooling_of_hsvit_follows_the_size():
    model = hsvit_keras.create_model("hsvit_c2a2", input_shape=(32, 32, 1), mean=0.5, std=0.5, depth=1)
    tuned = hsvit_keras.adapt(model, num_classes=4, input_shape=(64, 64, 1))
    assert model.pool_strides != tuned.pool_strides
    assert tuned.pool_strides == hsvit_keras.create_model("hsvit_c2a2", input_shape=(64, 64, 1)).pool_strides
    for layer in model.layers:
        if layer.name != "head":
            for ours, theirs in zip(layer.weights, tuned.get_layer(layer.name).weights, strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_what_depends_on_the_size_is_named():
    with pytest.raises(InputError, match=r"weights that depend on the size.*layer 'block0_attention' needs"):
        hsvit_keras.adapt(small_model("vil_rope", mean=0.5, std=0.5), num_classes=3, input_shape=(32, 32, 3))


def test_resizing_follows_the_size():
    model = small_model("deit_tiny", mean=0.5, std=0.5, resizing={"filter": "bicubic", "size": 20})  # of 16
    tuned = hsvit_keras.adapt(model, num_classes=3, input_shape=(32, 32, 3))
    assert (description_of(tuned).resizing.filter, description_of(tuned).resizing.size) == ("bicubic", 40)
    assert resizing_for(model, (32, 32, 3)) == description_of(tuned).resizing
    assert resizing_for(small_model("deit_tiny"), (32, 32, 3)) is None


def test_a_model_that_does_not_say_its_pixels_gets_them_from_pixels():
    model = small_model("hsvit_tiny")
    with pytest.raises(InputError, match="hsvit_tiny does not say which values its pixels have"):
        hsvit_keras.adapt(model, num_classes=3)
    tuned = hsvit_keras.adapt(model, num_classes=3, input_range=(-1, 1))
    pixels = np.random.default_rng(0).uniform(0, 255, (2, *model.input_shape[1:])).astype("float32")
    read = keras.Model(model.input, model.get_layer("head").input)(pixels / 127.5 - 1)
    np.testing.assert_allclose(features(tuned), read, rtol=1e-4, atol=1e-5)


def test_other_channels_are_refused():
    words = r"input_shape has to be \(height, width, 3\), the channels those of deit_tiny; received .*1\)"
    with pytest.raises(InputError, match=words):
        hsvit_keras.adapt(small_model("deit_tiny", mean=0.5, std=0.5), num_classes=3, input_shape=(16, 16, 1))


# ---- models of other libraries ---------------------------------------------------------------------
def convolutional(size, top=True, classes=7):
    inputs = keras.Input((size, size, 3))
    maps = layers.Conv2D(4, 3, padding="same", activation="relu", name="conv0")(inputs)
    maps = layers.BatchNormalization(name="norm")(maps)
    maps = layers.Conv2D(6, 3, strides=2, name="conv1")(maps)
    if not top:
        return keras.Model(inputs, maps, name="other")
    pooled = layers.Dropout(0.1)(layers.GlobalAveragePooling2D()(maps))
    return keras.Model(
        inputs, layers.Dense(classes, activation="softmax", name="answer")(pooled), name="other"
    )


def mean_map(model, pixels):
    """The mean of the last map of `convolutional`, which takes -1 to 1, for pixels of 0 to 255."""
    graph = keras.Model(model.input, model.get_layer("conv1").output)
    return np.mean(graph(pixels / 127.5 - 1), axis=(1, 2))


@pytest.mark.parametrize("top", [True, False])
@pytest.mark.parametrize("size", [8, 13])
def test_the_trunk_of_any_model_at_any_size_behind_pixels(top, size):
    model = convolutional(8, top)
    model.get_layer("norm").set_weights([np.random.default_rng(i).uniform(1, 2, 4) for i in range(4)])
    model.get_layer("conv0").trainable = False
    tuned = hsvit_keras.adapt(
        model, num_classes=3, input_shape=(size, size, 3), input_range=(-1, 1), class_names=tuple("abc")
    )
    at_size = convolutional(size, top)
    at_size.set_weights(model.get_weights())
    pixels = np.random.default_rng(0).uniform(0, 255, (2, size, size, 3)).astype("float32")
    features = mean_map(at_size, pixels)
    kernel, bias = tuned.get_layer("head").get_weights()
    np.testing.assert_allclose(tuned(pixels), features @ kernel + bias, rtol=1e-4, atol=1e-5)
    assert head_layers(tuned) == ["head"]
    assert len(tuned.trainable_variables) == 4 + 2 + 2
    said = description_of(tuned)
    assert (said.task, said.input_range, said.class_names) == ("classification", (0, 255), tuple("abc"))


def test_heads_of_models_inside_and_of_convolutions_are_found():
    inner = convolutional(8)
    outer = keras.Sequential([keras.Input((8, 8, 3)), layers.Rescaling(1 / 255), inner], name="outer")
    assert head_layers(outer) == ["other/answer"]
    tuned = hsvit_keras.adapt(outer, num_classes=2, input_range=(0, 255))
    pixels = np.random.default_rng(0).uniform(0, 255, (2, 8, 8, 3)).astype("float32")
    kernel, bias = tuned.get_layer("head").get_weights()
    expected = mean_map(inner, (pixels / 255 + 1) * 127.5) @ kernel + bias
    np.testing.assert_allclose(tuned(pixels), expected, rtol=1e-4, atol=1e-5)

    maps = keras.Input((4, 4, 3))
    logits = layers.Flatten()(layers.Conv2D(5, 1, name="logits")(layers.AveragePooling2D(4)(maps)))
    assert head_layers(keras.Model(maps, logits)) == ["logits"]
    assert head_layers(convolutional(8, top=False)) == []


def test_a_tuned_model_is_tuned_again():
    once = hsvit_keras.adapt(convolutional(8), num_classes=3, input_range=(-1, 1))
    twice = hsvit_keras.adapt(once, num_classes=4)
    assert twice.output_shape == (None, 4)
    np.testing.assert_array_equal(features(twice), features(once))


def test_a_quantized_model_is_tuned_as_a_float_one():
    model = describe(convolutional(8), input_range=(0, 255))
    quantized = hsvit_keras.quantize_aware(model)
    tuned = hsvit_keras.adapt(quantized, num_classes=3)
    assert not [layer.name for layer in tuned.layers if "Range" in type(layer).__name__]
    assert head_layers(tuned) == ["head"]


def test_models_that_do_not_classify_images_or_cannot_take_a_size_are_refused():
    vector = keras.Sequential([keras.Input((4,)), layers.Dense(2)], name="vector")
    with pytest.raises(InputError, match="vector has to take images"):
        hsvit_keras.adapt(vector, num_classes=2, input_range=(0, 1))
    flat = keras.Sequential(
        [keras.Input((4, 4, 1)), layers.Flatten(), layers.Dense(3), layers.Dense(2)], name="flat"
    )
    with pytest.raises(InputError, match=r"flat cannot take images of \(8, 8, 1\)"):
        hsvit_keras.adapt(flat, num_classes=2, input_shape=(8, 8, 1), input_range=(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MobileNetV3Small", "EfficientNetV2B0"])
def test_models_of_keras_applications(name):
    arguments = {"input_shape": (64, 64, 3), "weights": None}
    model = getattr(keras.applications, name)(**arguments, classes=11)
    tuned = hsvit_keras.adapt(model, num_classes=3, input_shape=(96, 96, 3), input_range=(0, 255))
    assert tuned.output_shape == (None, 3)
    assert len(head_layers(model)) == 1
    ours = [w.shape for w in tuned.weights if not w.path.startswith("head/")]
    head = head_layers(model)[0]
    assert ours == [w.shape for w in model.weights if not w.path.startswith(f"{head}/")]
