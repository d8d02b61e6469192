"""Random models of Keras' layers, through all passes: equal outputs, or one line that says why not."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import hsvit_keras
from hsvit_keras.compression.counting import count_multiply_adds, count_parameters
from hsvit_keras.compression.equality import random_inputs
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.ranges import unrounded
from tests.compression.random_graphs import random_model
from tests.compression.test_slimming import random_half

FAST, SLOW = 2, 60
SEEDS = [
    *(pytest.param(seed, marks=pytest.mark.slow_on_jax) for seed in range(FAST)),
    *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(FAST, SLOW)),
]
MULTIPLYING = (
    layers.Conv1D, layers.Conv2D, layers.Dense, layers.DepthwiseConv1D, layers.DepthwiseConv2D,
    layers.EinsumDense, layers.SeparableConv1D, layers.SeparableConv2D,
)  # fmt: skip
LIMIT = 1e-3  # of the largest output, as passes promise


def outputs_of(model, inputs):
    return [ops.convert_to_numpy(x) for x in keras.tree.flatten(model(inputs, training=False))]


def assert_equal_outputs(model, expected, inputs):
    for found, wanted in zip(outputs_of(model, inputs), expected, strict=True):
        assert np.isfinite(wanted).all()
        np.testing.assert_allclose(found, wanted, rtol=0, atol=LIMIT * np.abs(wanted).max())


@pytest.mark.filterwarnings("ignore:the scheme has no entry")
@pytest.mark.parametrize("seed", SEEDS)
def test_passes(seed, tmp_path):
    model = random_model(seed)
    inputs = random_inputs(model, 3)
    expected = outputs_of(model, inputs)
    assert_equal_outputs(hsvit_keras.fold_batch_norm(model), expected, inputs)
    quantized = hsvit_keras.quantize_aware(model)
    hsvit_keras.calibrate(quantized, [inputs])
    with unrounded():
        assert_equal_outputs(quantized, expected, inputs)
    assert_equal_outputs(hsvit_keras.remove_quantization(quantized), expected, inputs)
    for name, saved in {"float": model, "quantized": quantized}.items():
        saved.save(tmp_path / f"{name}.keras")
        loaded = keras.models.load_model(tmp_path / f"{name}.keras")
        assert_equal_outputs(loaded, outputs_of(saved, inputs), inputs)
    assert count_multiply_adds(model) == multiply_adds_of_layers(model)


@pytest.mark.parametrize("seed", SEEDS)
def test_slim(seed):
    """`slim` compares the outputs with those of a model that has zeros for the removed parts."""
    model = random_model(seed)
    rng, parts = np.random.default_rng(seed), hsvit_keras.slimmable_parts(model)
    kept = {
        kind: {name: random_half(rng, count) for name, count in parts[kind].items()}
        for kind in ("heads", "mlp_units", "kernels")
    }
    kept["blocks"] = [name for name in parts["blocks"] if rng.random() < 0.7]
    slimmed = hsvit_keras.slim(model, **{kind: names for kind, names in kept.items() if names})
    is_smaller = any(
        count > 1 for kind in ("heads", "mlp_units", "kernels") for count in parts[kind].values()
    )
    assert (count_parameters(slimmed) < count_parameters(model)) >= is_smaller
    inputs = random_inputs(model, 3)
    assert [x.shape for x in outputs_of(slimmed, inputs)] == [x.shape for x in outputs_of(model, inputs)]


def multiply_adds_of_layers(model):
    """What the layers of these models multiply, by their classes."""
    graph = Graph(model)
    return sum(
        _of_call(layer, call.tensors[0].shape[1:]) for layer in graph.layers for call in graph.calls(layer)
    )


def _of_call(layer, shape):
    if isinstance(layer, layers.MultiHeadAttention | layers.GroupQueryAttention):
        parts = ("query", "key", "value", "output")
        kernels = [getattr(layer, f"_{part}_dense").kernel.shape for part in parts]
        width = np.prod(kernels[-1][:2])  # of all heads
        return shape[0] * sum(map(np.prod, kernels)) + 2 * shape[0] ** 2 * width
    if isinstance(layer, layers.Conv2DTranspose):
        return np.prod(shape[:-1]) * np.prod(layer.kernel.shape)
    if not isinstance(layer, MULTIPLYING):
        return 0
    positions = np.prod(layer.compute_output_shape((1, *shape))[:-1])
    return positions * sum(np.prod(weight.shape) for weight in layer.weights if "kernel" in weight.name)
