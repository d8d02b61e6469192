"""Passes keep all that a model is beside its weights: statistics, frozen layers, LoRA, its class."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.compression.equality import PassError, checked
from hsvit_keras.compression.rewriting import rewrite
from hsvit_runtime.errors import InputError

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, (64, 8, 8, 3)).astype("float32")


def outputs(model, images=IMAGES):
    return np.asarray(model(images, training=False))


def normalized():
    """A model whose first layer has seen the images."""
    normalization = layers.Normalization()
    normalization.adapt(IMAGES)
    image = keras.Input((8, 8, 3))
    maps = layers.Conv2D(4, 3, use_bias=False, name="conv")(normalization(image))
    maps = layers.ReLU()(layers.BatchNormalization(name="norm")(maps))
    model = keras.Model(image, layers.Dense(5, name="head")(layers.GlobalAveragePooling2D()(maps)))
    model.get_layer("norm").set_weights([RNG.uniform(0.5, 1.5, 4) for _ in range(4)])
    return model


def every_pass(model):
    yield "fold_batch_norm", hsvit_keras.fold_batch_norm(model)
    quantized = hsvit_keras.quantize_aware(model, skip=("conv",))
    yield "remove_quantization", hsvit_keras.remove_quantization(quantized)
    yield "slim", hsvit_keras.slim(model, kernels=4)


def test_statistics_of_a_normalization():
    model = normalized()
    expected = outputs(model)
    for name, copy in every_pass(model):
        np.testing.assert_allclose(outputs(copy), expected, atol=1e-4 * abs(expected).max(), err_msg=name)


@pytest.mark.tensorflow
def test_statistics_of_a_normalization_in_an_artifact(tmp_path):
    model = normalized()
    hsvit_keras.to_tflite(model, tmp_path / "m.tflite", preset="float32", probabilities=False)
    artifact = hsvit_keras.open_model(tmp_path / "m.tflite")
    (found,) = artifact.run({artifact.inputs[0].name: IMAGES[:1]}).values()
    np.testing.assert_allclose(found, outputs(model, IMAGES[:1]), atol=1e-4)


@pytest.mark.slow_on_jax
def test_frozen_layers_stay_frozen(tmp_path):
    model = hsvit_keras.create_model("hsvit_tiny")
    for layer in model.layers[:-3]:
        layer.trainable = False
    names = [weight.path for weight in model.trainable_weights]
    assert 0 < len(names) < 6
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for copy in (loaded, hsvit_keras.fold_batch_norm(model), hsvit_keras.quantize_aware(model)):
        assert [weight.path for weight in copy.trainable_weights] == names
    assert all(not layer.trainable for layer in loaded.layers[:-3])


def test_a_layer_with_a_policy_of_its_own(tmp_path):
    model = hsvit_keras.create_model("hsvit_tiny")
    model.get_layer("head").dtype_policy = keras.DTypePolicy("mixed_bfloat16")
    model.save(tmp_path / "model.keras")
    for copy in (keras.models.load_model(tmp_path / "model.keras"), hsvit_keras.fold_batch_norm(model)):
        assert copy.get_layer("head").compute_dtype == "bfloat16"
        assert copy.get_layer("embedding").compute_dtype == "float32"


@pytest.mark.slow_on_jax
def test_lora(tmp_path):
    model = hsvit_keras.create_model("hsvit_tiny")
    model.get_layer("head").enable_lora(2)
    for weight in model.get_layer("head").trainable_weights:
        weight.assign(RNG.normal(size=weight.shape))
    images = RNG.uniform(0, 1, (4, *model.input_shape[1:])).astype("float32")
    expected = outputs(model, images)
    model.save(tmp_path / "model.keras")
    for copy in (keras.models.load_model(tmp_path / "model.keras"), hsvit_keras.fold_batch_norm(model)):
        assert copy.get_layer("head").lora_enabled
        np.testing.assert_allclose(outputs(copy, images), expected, rtol=1e-4, atol=1e-4)
    plain = hsvit_keras.remove_quantization(hsvit_keras.quantize_aware(model))
    assert not plain.get_layer("head").lora_enabled  # merged, for the integer kernel is the sum
    np.testing.assert_allclose(outputs(plain, images), expected, rtol=1e-4, atol=1e-4)


def test_batch_normalization_of_the_batch_is_not_folded():
    image = keras.Input((8, 8, 3))
    maps = layers.Conv2D(4, 3, name="conv")(image)
    model = keras.Model(image, layers.BatchNormalization(name="norm")(maps, training=True))
    copy = hsvit_keras.fold_batch_norm(model)
    assert "norm" in [layer.name for layer in copy.layers]
    np.testing.assert_allclose(np.asarray(copy(IMAGES)), np.asarray(model(IMAGES)), atol=1e-5)


@keras.saving.register_keras_serializable("tests")
class Scaled(keras.Model):
    """A Functional model with a loss of its own."""

    def __init__(self, inputs, outputs, factor=1.0, **kwargs):
        super().__init__(inputs=inputs, outputs=outputs, **kwargs)
        self.factor = factor

    def train_step(self, data):
        return {"factor": self.factor}

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


def test_the_class_of_a_model_and_its_train_step():
    image = keras.Input((8, 8, 3))
    model = Scaled(image, layers.BatchNormalization()(layers.Conv2D(4, 3)(image)), factor=3.0)
    copy = hsvit_keras.fold_batch_norm(model)
    assert type(copy) is Scaled and copy.factor == 3.0 and len(copy.layers) == 2


class Opaque(Scaled):
    """Nothing tells how to make it again."""

    def __init__(self, width):
        image = keras.Input((8, 8, 3))
        super().__init__(image, layers.BatchNormalization()(layers.Conv2D(width, 3)(image)))


def test_a_train_step_that_would_be_lost():
    with pytest.raises(InputError, match=r"cannot be copied with its train_step: give the .*Opaque"):
        hsvit_keras.fold_batch_norm(Opaque(4))


def test_models_that_keras_quantized_are_named():
    model = keras.Sequential([keras.Input((8,)), layers.Dense(4, name="head")])
    model.get_layer("head").quantize("int8")
    copy = rewrite(model)
    np.testing.assert_array_equal(outputs(copy, np.ones((1, 8))), outputs(model, np.ones((1, 8))))
    message = r"'head' was quantized by Keras' quantize\('int8'\).*float model"
    with pytest.raises(InputError, match=message):
        hsvit_keras.quantize_aware(model)


def test_functions_of_lambda_layers_keep_what_they_refer_to():
    factor = 3.0
    image = keras.Input((8, 8, 3))
    maps = layers.BatchNormalization()(layers.Conv2D(4, 3)(image))
    model = keras.Model(image, layers.Lambda(lambda x: x * factor)(maps))
    np.testing.assert_allclose(outputs(hsvit_keras.fold_batch_norm(model)), outputs(model), atol=1e-2)


@pytest.mark.parametrize("named", ["first", "second"])
def test_the_first_layer_that_differs_is_named(named):
    image = keras.Input((8, 8, 3))
    maps = layers.ReLU(name="between")(layers.Conv2D(4, 3, name="first")(image))
    model = keras.Model(image, layers.Conv2D(4, 3, name="second")(maps), name="two")
    copy = rewrite(model)
    copy.get_layer(named).kernel.assign(2 * model.get_layer(named).kernel)
    with pytest.raises(PassError, match=f"'two' would give other outputs after a_pass.* in '{named}'"):
        checked(model, copy, "a_pass")
    assert checked(model, copy, "a_pass", check=False) is copy
