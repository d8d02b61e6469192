"""What an optimizer does in each step, against the formulas in NumPy."""

import json

import keras
import numpy as np
import pytest
from keras import layers

from tests.models.small import small_model
from tests.training.breaking import broken_off
from tests.training.test_train import assert_same_run, small_config
from training.configs import digits
from training.fitting import fit, optimization
from training.fitting.building import build_model
from training.fitting.data import Data
from training.fitting.run import train
from training.recipes import recipe
from training.run_files.run_directory import RunDirectory

STEPS = 4
RATE = 0.5


def settings(**changes):
    """The values of a recipe, of whose optimizer only what is named differs from plain descent."""
    config = digits.get_config()
    plain = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": RATE, "weight_decay": 0.0}
    for key, value in {**plain, "schedule": "step_decay", **changes}.items():
        config[key] = value
    return recipe.plain(config)


def two_weights():
    """A model of a kernel and a bias, and two values for each."""
    model = keras.Sequential([keras.Input((2,)), layers.Dense(2)])
    kernel, bias = np.float32([[1, -2], [3, 4]]), np.float32([-5, 6])
    model.set_weights([kernel, bias])
    return model, [kernel, bias]


def gradients(step):
    """Other gradients of these two in each step."""
    rng = np.random.default_rng(step)
    return [rng.normal(size=shape).astype("float32") for shape in ((2, 2), (2,))]


def descended(count, **changes):
    """The weights after some steps."""
    model, _ = two_weights()
    optimizer = optimization.build_optimizer(model, settings(**changes), STEPS)
    for step in range(count):
        optimizer.apply(gradients(step))
    return model.get_weights()


def assert_near(ours, expected, atol=1e-6):
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=atol)


# ---- the learning rate -----------------------------------------------------------------------------
class Rates(keras.callbacks.Callback):
    """The learning rate at each step."""

    def on_train_begin(self, logs=None):
        self.seen = []

    def on_train_batch_begin(self, batch, logs=None):
        self.seen.append(float(self.model.optimizer.learning_rate))


def rates(**changes):
    """Those of all steps of a `fit` of 10 epochs of 4 steps."""
    values = settings(epochs=10, **changes)
    model, _ = two_weights()
    model.compile(optimization.build_optimizer(model, values, STEPS), loss="mse")
    seen = Rates()
    images = np.zeros((STEPS, 2))
    model.fit(
        images, images, batch_size=1, epochs=10, verbose=0, callbacks=[*optimization.callbacks(values), seen]
    )
    return seen.seen


def test_a_cosine_changes_with_each_step():
    steps = np.arange(40)
    np.testing.assert_allclose(
        rates(schedule="cosine"), RATE * (1 + np.cos(np.pi * steps / 40)) / 2, rtol=1e-5, atol=1e-7
    )


def test_a_cosine_begins_behind_its_warm_up_and_ends_at_the_minimum():
    steps = np.arange(40)
    falling = 0.1 + (RATE - 0.1) * (1 + np.cos(np.pi * (steps - 8) / 32)) / 2
    expected = np.where(steps < 8, 0.2 + (RATE - 0.2) * steps / 8, falling)
    found = rates(schedule="cosine", warmup_epochs=2, warmup_learning_rate=0.2, min_learning_rate=0.1)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "mixed_float16"])
def test_a_cosine_by_epoch_is_that_of_whole_epochs(dtype):
    """That of PyTorch's CosineAnnealingLR, stepped once an epoch; also where the loss is scaled."""
    epochs = np.repeat(np.arange(10), STEPS)
    expected = RATE * (1 + np.cos(np.pi * epochs / 10)) / 2
    np.testing.assert_allclose(rates(schedule="cosine_by_epoch", dtype=dtype), expected, rtol=1e-6)


def test_a_warm_up_by_epoch_covers_the_beginning_of_the_cosine():
    """That of timm's scheduler without a prefix."""
    epochs = np.repeat(np.arange(10), STEPS)
    falling = 0.1 + (RATE - 0.1) * (1 + np.cos(np.pi * epochs / 10)) / 2
    expected = np.where(epochs < 3, 0.2 + (RATE - 0.2) * epochs / 3, falling)
    found = rates(
        schedule="cosine_by_epoch", warmup_epochs=3, warmup_learning_rate=0.2, min_learning_rate=0.1
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_step_decay_multiplies_at_the_named_epochs():
    expected = np.repeat([RATE] * 3 + [RATE / 5] * 4 + [RATE / 25] * 3, STEPS)
    np.testing.assert_allclose(rates(decay_epochs=(3, 7), decay_factor=0.2), expected, rtol=1e-6)
    np.testing.assert_allclose(rates(), RATE)  # where there is no such epoch, it is constant


# ---- one step --------------------------------------------------------------------------------------
@pytest.mark.parametrize("limit", [0.01, 0.5, 100.0])
def test_clipping_shortens_all_gradients_together(limit):
    _, weights = two_weights()
    found = gradients(0)
    norm = np.sqrt(sum(np.square(gradient).sum() for gradient in found))
    factor = min(1.0, limit / norm)
    expected = [weight - RATE * factor * gradient for weight, gradient in zip(weights, found, strict=True)]
    assert (factor < 1) == (limit < 100)
    assert_near(descended(1, clip_norm=limit), expected)


@pytest.mark.tensorflow  # Keras lets this optimizer compute on JAX in a compiled step alone
def test_scaled_gradients_are_clipped_by_what_they_are_without_their_scale():
    model, _ = two_weights()
    optimizer = optimization.build_optimizer(model, settings(clip_norm=1.0, dtype="mixed_float16"), STEPS)
    scale = float(optimizer.scale_loss(1.0))
    assert scale > 1000
    optimizer.apply([gradient * scale for gradient in gradients(0)])
    assert_near(model.get_weights(), descended(1, clip_norm=1.0))


@pytest.mark.parametrize("nesterov", [False, True])
def test_descent_with_momentum(nesterov):
    _, expected = two_weights()
    velocities = [np.zeros_like(weight) for weight in expected]
    for step in range(3):
        for i, gradient in enumerate(gradients(step)):
            velocities[i] = 0.9 * velocities[i] + gradient
            ahead = 0.9 * velocities[i] + gradient if nesterov else velocities[i]
            expected[i] = expected[i] - RATE * ahead
    assert_near(descended(3, momentum=0.9, nesterov=nesterov), expected)


@pytest.mark.parametrize("name", ["adam", "adamw"])
@pytest.mark.parametrize("epsilon", [1e-8, 0.1])
def test_adam(name, epsilon):
    """Algorithm 1 of https://arxiv.org/abs/1412.6980, with the epsilon of the end of its section 2."""
    _, expected = two_weights()
    means, squares = ([np.zeros_like(weight) for weight in expected] for _ in range(2))
    for step in range(3):
        rate = RATE * np.sqrt(1 - 0.999 ** (step + 1)) / (1 - 0.9 ** (step + 1))
        for i, gradient in enumerate(gradients(step)):
            means[i] = 0.9 * means[i] + 0.1 * gradient
            squares[i] = 0.999 * squares[i] + 0.001 * gradient**2
            expected[i] = expected[i] - rate * means[i] / (np.sqrt(squares[i]) + epsilon)
    # In float32 the power of 0.999 leaves 1 minus it, of which the root is taken, wrong by 3e-5 of itself.
    assert_near(descended(3, optimizer=name, epsilon=epsilon), expected, atol=3 * RATE * 3e-5)


# ---- decay -----------------------------------------------------------------------------------------
def shares_left(model, **changes):
    """Of each weight, what is left of it after a step without gradient."""
    model.set_weights([np.ones(weight.shape, "float32") for weight in model.get_weights()])
    optimizer = optimization.build_optimizer(model, settings(weight_decay=0.1, **changes), STEPS)
    optimizer.apply([np.zeros(variable.shape, "float32") for variable in model.trainable_variables])
    return {variable.path: np.unique(np.asarray(variable)) for variable in model.trainable_variables}


@pytest.mark.parametrize("name", ["adamw", "adam", "sgd"])
def test_decay_takes_the_rate_times_its_share_off_every_weight(name):
    found = shares_left(two_weights()[0], optimizer=name)
    assert len(found) == 2
    for share in found.values():
        np.testing.assert_allclose(share, 1 - RATE * 0.1, rtol=1e-6)


@pytest.mark.parametrize("name", ["hsvit_tiny", "deit_tiny_distilled", "hvt_s_4_convolution", "vil"])
def test_kernels_alone_decay_where_asked(name):
    found = shares_left(small_model(name), decay_kernels_only=True)
    decayed = {path for path, share in found.items() if share != 1}
    kernels = {path for path in found if path.endswith(("/kernel", "/projection"))}
    assert decayed == kernels
    others = {path.rpartition("/")[2] for path in set(found) - kernels}
    assert {"bias", "gamma", "beta", "position"} <= others
    assert ("class_token" in others) == (name != "hvt_s_4_convolution")
    np.testing.assert_allclose(np.concatenate([found[path] for path in kernels]), 0.95, rtol=1e-6)


# ---- averages --------------------------------------------------------------------------------------
def test_averaged_weights_follow_the_trained_ones():
    model, _ = two_weights()
    optimizer = optimization.build_optimizer(model, settings(ema_momentum=0.8), STEPS)
    average = None
    for step in range(4):
        optimizer.apply(gradients(step))
        trained = model.get_weights()
        average = (
            trained
            if average is None
            else [0.8 * old + 0.2 * new for old, new in zip(average, trained, strict=True)]
        )
    with optimization.averaged(optimizer):
        assert_near(model.get_weights(), average)
    for one, other in zip(model.get_weights(), trained, strict=True):
        np.testing.assert_array_equal(one, other)  # not rounded by the swap


def test_without_averages_nothing_is_swapped():
    model, weights = two_weights()
    with optimization.averaged(optimization.build_optimizer(model, settings(), STEPS)):
        assert_near(model.get_weights(), weights)


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_averages_are_validated_and_saved_and_the_run_goes_on_from_the_others(tmp_path):
    config = small_config(ema_momentum=0.5, epochs=2, learning_rate=0.01, clip_norm=1.0)
    summary = train(config, tmp_path)
    last = keras.models.load_model(tmp_path / "last.keras")
    averages = [np.asarray(value) for value in last.optimizer._model_variables_moving_average]
    trained = [np.asarray(variable) for variable in last.trainable_variables]
    assert summary["best"]["epoch"] == 2
    best = keras.models.load_model(tmp_path / "best.keras")
    for variable, average in zip(best.trainable_variables, averages, strict=True):
        np.testing.assert_array_equal(np.asarray(variable), average)
    assert any(np.abs(ours - theirs).max() > 1e-5 for ours, theirs in zip(trained, averages, strict=True))

    # Fitting ends with the averages also where it finds all epochs done: a compression goes on from there.
    values = recipe.plain(config)
    data, run = Data(values), RunDirectory(tmp_path)
    model = build_model(values, data.class_names)
    fit.compile_model(model, values, data.task, num_classes=data.num_classes, steps=data.steps)
    fit.fit(model, model, run, values, data)
    for variable, average in zip(model.trainable_variables, averages, strict=True):
        np.testing.assert_array_equal(np.asarray(variable), average)


@pytest.mark.slow
@pytest.mark.slow_on_jax
@pytest.mark.parametrize(
    "changes",
    [
        {"ema_momentum": 0.9, "schedule": "cosine_by_epoch", "clip_norm": 0.1, "decay_kernels_only": True},
        {"optimizer": "sgd", "nesterov": True, "schedule": "step_decay", "decay_epochs": (1,)},
        {"ema_momentum": 0.9, "dtype": "mixed_float16", "clip_norm": 0.1},
    ],
)
def test_a_run_that_breaks_off_goes_on_to_the_same_end(tmp_path, changes):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(small_config(**changes), whole)
    with broken_off():
        train(small_config(**changes), broken)
    train(small_config(**changes), broken)
    assert_same_run(whole, broken)
    summaries = [json.loads((folder / "summary.json").read_text()) for folder in (whole, broken)]
    assert summaries[0]["test"] == summaries[1]["test"]
