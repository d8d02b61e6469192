"""What every test starts from: the same seeds, on JAX little to compile, a file's tests in one process."""

import gc
import os
import random

os.environ.setdefault(
    "JAX_DISABLE_MOST_OPTIMIZATIONS", "1"
)  # XLA takes longer to compile a test than to run it

import keras
import numpy as np
import pytest
from keras.src.initializers import random_initializers

from command_line import private_ray


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests of a file go to one process, where fixtures are made once; `xdist_group` makes smaller groups."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
        on_jax = item.get_closest_marker("slow_on_jax") and keras.backend.backend() == "jax"
        if on_jax or item.get_closest_marker("exhaustive"):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    """Looking through a million objects of imported modules for garbage would take a second each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True, scope="module")
def nothing_is_kept(request):
    """Models that a file's tests share go with it: searching gigabytes of them for garbage takes seconds."""
    yield
    for value in vars(request.module).values():
        if getattr(value, "__module__", None) == request.module.__name__ and hasattr(value, "cache_clear"):
            value.cache_clear()
    gc.collect()


@pytest.fixture(autouse=True)
def same_chance():
    """The same initial weights, batches and dropout in every run: Keras draws from all of these."""
    random.seed(0)
    np.random.seed(0)
    if keras.backend.backend() == "tensorflow":
        import tensorflow

        tensorflow.random.set_seed(0)


@pytest.fixture
def ray_environment():
    """What commands set for Ray ends with the test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in private_ray.NAMES:
            patch.setenv(name, "")
            patch.delenv(name)
        private_ray.read_again()
        yield
    private_ray.read_again()


class _NumpyGenerator:
    """Stands in for JAX's generator, which compiles a program for each shape that it draws."""

    def __init__(self, original):
        self._original = original

    def __getattr__(self, name):
        return getattr(self._original, name)

    def uniform(self, shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
        return self._tensor(np.random.default_rng(seed).uniform(minval, maxval, shape), dtype)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
        return self._tensor(np.random.default_rng(seed).normal(mean, stddev, shape), dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
        rng = np.random.default_rng(seed)
        sample = rng.normal(size=shape)
        while (outside := np.abs(sample) > 2).any():
            sample[outside] = rng.normal(size=outside.sum())
        return self._tensor(mean + stddev * sample, dtype)

    @staticmethod
    def _tensor(sample, dtype):
        return keras.ops.convert_to_tensor(np.asarray(sample, dtype or "float32"))


@pytest.fixture(autouse=True, scope="session")
def initial_weights_by_numpy():
    """On JAX, where drawing them takes most of the time that a model takes to build."""
    if keras.backend.backend() == "jax":
        random_initializers.random = _NumpyGenerator(random_initializers.random)
