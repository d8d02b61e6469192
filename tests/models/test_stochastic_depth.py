"""Stochastic depth: which branches are dropped how often, and what becomes of an image."""

import keras
import numpy as np
import pytest

from hsvit_keras.models import blocks
from tests.models.running import images, outputs
from tests.models.small import small_model

# Small models of 4 blocks, or of stages of them, and the share of the rate that each block has, in order. The
# first block, which has none, is left out.
SHARES = {
    "deit_tiny": ({"depth": 4}, (1 / 3, 2 / 3, 1)),
    "hvt_ti_1": ({"depth": 4}, (1 / 3, 2 / 3, 1)),
    "dhvt_t_cifar_p4": ({"depth": 4}, (1 / 3, 2 / 3, 1)),
    "cct": ({"depth": 4}, (1 / 3, 2 / 3, 1)),
    # PiT's program divides by the number of all blocks
    "pit_ti": ({"depths": (1, 2, 1)}, (1 / 4, 2 / 4, 3 / 4)),
    # CvT's alone in the last stage
    "cvt_13": ({"depths": (2, 3)}, (1 / 2, 1)),
    "efficientformer_l1": ({"depths": (2, 2)}, (1 / 3, 2 / 3, 1)),
    "swiftformer_xs": ({"depths": (2, 2)}, (1 / 3, 2 / 3, 1)),
}
RATE = 0.3


def dropping(name):
    arguments, _ = SHARES[name]
    return small_model(name, **arguments, stochastic_depth_rate=RATE)


def rates(model):
    """The rates of all layers that drop branches, in the order of the graph."""
    return [layer.rate for layer in model.layers if layer.name.endswith("_drop")]


@pytest.mark.once
@pytest.mark.parametrize("name", SHARES)
def test_rates_grow_with_depth(name):
    expected = [RATE * share for share in SHARES[name][1]]
    twice = sorted(2 * expected)  # a layer for each of the two branches of a block
    if name == "swiftformer_xs":
        twice.remove(expected[1])  # the first block of a stage is one branch
    assert sorted(rates(dropping(name))) == pytest.approx(twice)


@pytest.mark.once
def test_a_model_without_it_has_no_such_layer():
    assert rates(small_model("deit_tiny")) == []
    assert rates(small_model("cvt_13"))[-1] == 0.1  # as its authors have it


@pytest.mark.parametrize("name", ["deit_tiny", "efficientformer_l1"])
def test_in_inference_nothing_is_dropped(name):
    model = dropping(name)
    plain = small_model(name, **SHARES[name][0])
    plain.set_weights(model.get_weights())
    given = images(model, 2)
    np.testing.assert_array_equal(outputs(model, given), outputs(plain, given))


@pytest.mark.parametrize("shape", [(5, 3), (2, 2, 3)])
def test_a_branch_is_there_as_a_whole_or_not_at_all(shape):
    """And more of it, so that its mean over many images is what it was."""
    branch = keras.Input(shape)
    layer = keras.Model(branch, blocks.dropped(branch, RATE, "branch")).get_layer("branch_drop")
    layer.seed_generator.state.assign([1, 2])
    given = np.random.default_rng(0).uniform(1, 2, (2000, *shape)).astype("float32")
    factors = (np.asarray(layer(given, training=True)) / given).reshape(2000, -1)
    assert (np.ptp(factors, axis=1) < 1e-6).all()
    np.testing.assert_allclose(np.unique(factors.round(5)), [0, 1 / (1 - RATE)], atol=1e-5)
    # Four standard deviations of the share that is dropped
    assert abs((factors[:, 0] == 0).mean() - RATE) < 4 * np.sqrt(RATE * (1 - RATE) / 2000)


@pytest.mark.once
@pytest.mark.parametrize("name", SHARES)
def test_a_wrong_rate_is_named(name):
    with pytest.raises(ValueError, match=r"stochastic_depth_rate has to be a number in \[0, 1\)"):
        small_model(name, stochastic_depth_rate=1.0)
