"""What stands for ops that the delegate of 2.16 lacks: it computes the same as NumPy, and all of it runs."""

import math

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

from hsvit_runtime.litert import older_ops, runtimes, tflite_file, xnnpack_2_16
from tests.runtime.litert.builder import Builder
from tests.runtime.litert.test_eight_bit_kernels import run

RNG = np.random.default_rng(0)
INT8 = {"dtype": "int8", "scale": 0.1, "zero_point": 3}


def one_op(kind, shape, made, *constants, options=None, given=None, **attributes):
    """A file of one op, of a computed tensor and constants."""
    builder, given = Builder(), given or {}
    x, y = builder.tensor(shape, **given), builder.tensor(made, **given)
    builder.op(
        kind, [x, *(builder.constant(*constant) for constant in constants)], [y], options, **attributes
    )
    return builder.content([x], [y])


def rewritten(content):
    """The file in older ops, after a look at whether the older delegate runs all of it."""
    before = tflite_file.read(content, "before").subgraphs[0]
    assert xnnpack_2_16.plan(before)[0]
    changed = older_ops.replace(content)
    model = tflite_file.read(changed, "after")
    assert xnnpack_2_16.plan(model.subgraphs[0]) == ([], 1)
    assert runtimes.loads(runtimes.oldest(runtimes.needs(model)), "2.16")
    return changed


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((2, 5, 4), [-1]),
        ((2, 5, 4), [1]),
        ((2, 3, 5, 4), [1]),
        ((2, 3, 5, 4), [3, 2]),
        ((2, 3, 5, 4), [1, 3]),
        ((2, 3, 2, 5, 4), [1, 2]),
        ((3, 4), [0]),
        ((3, 4, 2), [0, 1]),
    ],
)
@pytest.mark.parametrize("kind", ["MEAN", "SUM"])
def test_means_and_sums(kind, shape, axes, keep):
    x = RNG.normal(size=shape).astype("float32")
    reduce = np.mean if kind == "MEAN" else np.sum
    expected = reduce(x.astype("float64"), tuple(axes), keepdims=keep)
    content = one_op(kind, shape, expected.shape, (axes, "int32"), options="ReducerOptions", keepDims=keep)
    (found,) = run(rewritten(content), x)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.shape == expected.shape


def test_mean_of_8_bits():
    x = RNG.integers(-128, 128, (1, 6, 4)).astype("int8")
    content = one_op("MEAN", x.shape, (1, 4), ([1], "int32"), options="ReducerOptions", given=INT8, version=2)
    (found,) = run(rewritten(content), x)
    assert np.abs(found - x.astype("float64").mean(1)).max() <= 0.5 + 1e-6


def test_means_that_the_delegate_runs_stay():
    content = one_op("MEAN", (1, 4, 4, 3), (1, 3), ([1, 2], "int32"), options="ReducerOptions")
    assert older_ops.replace(content) is content


def test_one_over_root():
    x = RNG.uniform(0.01, 100, (1, 40)).astype("float32")
    (found,) = run(rewritten(one_op("RSQRT", x.shape, x.shape)), x)
    np.testing.assert_allclose(found, 1 / np.sqrt(x.astype("float64")), rtol=1e-6)


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu(approximate):
    x = np.concatenate([np.linspace(-9, 9, 4001), [-1e4, -50, 50, 1e4]]).astype("float32")[None]
    wide = x.astype("float64")
    if approximate:
        expected = wide / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
    else:
        expected = wide / 2 * np.vectorize(math.erfc)(-wide / math.sqrt(2))
    content = one_op("GELU", x.shape, x.shape, options="GeluOptions", approximate=approximate)
    (found,) = run(rewritten(content), x)
    np.testing.assert_allclose(found, expected, atol=2e-6, rtol=1e-6)


def test_kernels_of_8_bits():
    levels, x = RNG.integers(-127, 128, (3, 4)), RNG.normal(size=(2, 4)).astype("float32")
    builder = Builder()
    given, made = builder.tensor((2, 4)), builder.tensor((2, 3))
    kernel = builder.constant(levels, "int8", scale=0.25)
    builder.op("FULLY_CONNECTED", [given, kernel, -1], [made], "FullyConnectedOptions", version=5)
    (found,) = run(rewritten(builder.content([given], [made])), x)
    np.testing.assert_allclose(found, x @ (0.25 * levels.T), rtol=1e-5, atol=1e-5)


def test_what_is_computed_from_two_tensors_or_integers_stays():
    builder = Builder()
    a, b, c = builder.tensor((1, 5, 4)), builder.tensor((1, 4, 3)), builder.tensor((1, 5, 3))
    builder.op("BATCH_MATMUL", [a, b], [c], "BatchMatMulOptions")
    content = builder.content([a, b], [c])
    assert older_ops.replace(content) is content
    content = one_op(
        "MEAN", (1, 5, 4), (1, 5), ([-1], "int32"), options="ReducerOptions", given=INT8, version=2
    )
    assert older_ops.replace(content) is content
