"""What holds for every registered model; a new family is covered by registering it."""

import inspect
import subprocess
import sys

import keras
import numpy as np
import pytest

import hsvit_keras

MODELS = hsvit_keras.list_models()
# The smallest form of each variant that still has all its parts.
SMALL = {"input_shape": (32, 32, 3), "num_classes": 5}


def small(name, **overrides):
    return hsvit_keras.create_model(name, **{**SMALL, **overrides})


def images(count=2, seed=0):
    return np.random.default_rng(seed).normal(size=(count, *SMALL["input_shape"])).astype("float32")


def answers(model, inputs):
    return keras.ops.convert_to_numpy(keras.ops.cast(model(inputs, training=False), "float32"))


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_finite_and_those_of_each_image_alone(name):
    model = small(name)
    together = answers(model, images(4))
    assert together.shape == (4, 5)
    assert np.isfinite(together).all()
    alone = np.concatenate([answers(model, image[None]) for image in images(4)])
    np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_every_weight_learns(name):
    model = small(name)
    before = [keras.ops.convert_to_numpy(weight) for weight in model.trainable_weights]
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(1.0), loss, run_eagerly=True)
    loss = model.train_on_batch(images(4), np.array([0, 1, 2, 3]))
    assert np.isfinite(loss)
    still = [
        weight.path
        for weight, old in zip(model.trainable_weights, before, strict=True)
        if np.array_equal(keras.ops.convert_to_numpy(weight), old)
    ]
    assert [path for path in still if not path.endswith("key/bias")] == []  # softmax cancels a key's bias


@pytest.mark.parametrize("name", MODELS)
def test_config_holds_every_argument(name):
    model = small(name)
    config = model.get_config()
    arguments = set(inspect.signature(type(model).__init__).parameters) - {"self", "kwargs"}
    assert arguments <= set(config)
    copy = type(model).from_config(config)
    assert copy.get_config() == config
    assert [weight.shape for weight in copy.weights] == [weight.shape for weight in model.weights]


@pytest.mark.parametrize("name", MODELS)
def test_clone(name):
    model = small(name)
    copy = keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    np.testing.assert_array_equal(answers(copy, images()), answers(model, images()))


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
@pytest.mark.parametrize("name", MODELS)
def test_half_precision(name, policy):
    model = small(name)
    low = small(name, dtype=policy)
    low.set_weights(model.get_weights())
    assert keras.config.dtype_policy().name == "float32"  # the argument is for this model alone
    assert all(weight.dtype == "float32" for weight in low.weights)
    assert {layer.compute_dtype for layer in low.layers if layer.weights} == {policy.removeprefix("mixed_")}
    expected, result = answers(model, images(8)).ravel(), answers(low, images(8)).ravel()
    assert np.corrcoef(expected, result)[0, 1] > 0.99
    assert type(low).from_config(low.get_config()).layers[-1].compute_dtype == low.layers[-1].compute_dtype


LOAD = """
import sys, keras, numpy as np
import hsvit_keras
folder = sys.argv[1]
images = np.load(f"{folder}/images.npy")
for name in sys.argv[2:]:
    model = keras.models.load_model(f"{folder}/{name}.keras")
    answers = keras.ops.convert_to_numpy(model(images, training=False))
    assert np.array_equal(answers, np.load(f"{folder}/{name}.npy")), name
    print(type(model).__name__, name)
"""


def test_saved_models_load_in_a_fresh_process(tmp_path):
    """`import hsvit_keras` is enough: no custom_objects, batch statistics included."""
    np.save(tmp_path / "images.npy", images())
    for name in MODELS:
        model = small(name)
        model(images(4), training=True)  # moves the statistics of batch normalization
        model.save(tmp_path / f"{name}.keras")
        hsvit_keras.fold_batch_norm(model).save(tmp_path / f"{name}_folded.keras")
        np.save(tmp_path / f"{name}.npy", answers(model, images()))
        np.save(tmp_path / f"{name}_folded.npy", answers(hsvit_keras.fold_batch_norm(model), images()))
    names = [*MODELS, *(f"{name}_folded" for name in MODELS)]
    command = [sys.executable, "-c", LOAD, str(tmp_path), *names]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    loaded = [line.split()[1] for line in result.stdout.splitlines() if line.endswith(tuple(names))]
    assert loaded == names
