"""Schedules, masks and trained weights equal those of tensorflow-model-optimization."""

import os
import subprocess
import sys

import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.compression.masks import pattern_of
from tests.compression import pruning_cases as cases

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    path = tmp_path_factory.mktemp("oracle") / "results.npz"
    command = [sys.executable, "-m", "tests.compression.tfmot_oracle", str(path)]
    environment = {**os.environ, "KERAS_BACKEND": "tensorflow"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]
    return np.load(path)


def values(schedule):
    return np.array([schedule(step) for step in range(cases.STEPS)], dtype=float)


@pytest.mark.parametrize("number", range(len(cases.CONSTANT)))
def test_constant_sparsity(number, oracle):
    ours = values(hsvit_keras.ConstantSparsity(*cases.CONSTANT[number]))
    np.testing.assert_array_equal(ours[:, 0], oracle[f"constant_{number}"][:, 0])
    np.testing.assert_allclose(ours[:, 1], oracle[f"constant_{number}"][:, 1], rtol=1e-7)


@pytest.mark.parametrize("number", range(len(cases.DECAYING)))
def test_polynomial_decay(number, oracle):
    ours = values(hsvit_keras.PolynomialDecay(*cases.DECAYING[number]))
    np.testing.assert_array_equal(ours[:, 0], oracle[f"decaying_{number}"][:, 0])
    np.testing.assert_allclose(ours[:, 1], oracle[f"decaying_{number}"][:, 1], atol=2e-7)  # float32


def test_the_cases_include_pruning_steps(oracle):
    assert oracle["constant_4"][:, 0].sum() == 1
    assert oracle["decaying_1"][:, 0].sum() == 8


@pytest.mark.parametrize("number", range(len(cases.MASKS)))
def test_masks(number, oracle):
    name, pattern, _, sparsity = cases.MASKS[number]
    kernel = cases.arrays()[name]
    matrices = kernel.reshape(-1, *kernel.shape[-2:])
    (mask,) = pattern_of(pattern, "layer").masks([matrices], sparsity)
    np.testing.assert_array_equal(mask.reshape(kernel.shape), oracle[f"mask_{number}"])


@pytest.fixture(scope="module")
def trained():
    """The weights after training with our callback and schedule."""
    return cases.our_training(hsvit_keras)


def test_training(oracle, trained):
    """Fifteen steps of SGD with momentum, in which five new masks are computed."""
    for number, weights in enumerate(trained):
        expected = oracle[f"training_{number}"]
        np.testing.assert_array_equal(weights == 0, expected == 0)
        np.testing.assert_allclose(weights, expected, rtol=1e-4, atol=1e-5)
    assert np.mean(oracle["training_0"] == 0) == pytest.approx(0.7, abs=1 / 162)


def test_the_callback_accepts_their_schedules(oracle, trained):
    for number, weights in enumerate(trained):
        np.testing.assert_allclose(oracle[f"ours_{number}"], weights, rtol=1e-5, atol=1e-6)
