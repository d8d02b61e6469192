"""MixUp or CutMix: one of them for each batch, labels in the shares of the pixels."""

import numpy as np
import pytest
from scipy import stats

from training.augmenting.mixing import MixUpOrCutMix, cut_rectangle

pytestmark = pytest.mark.once

CLASSES = 4


def rng(seed=0):
    return np.random.default_rng(seed)


def batch(size=(16, 12)):
    """Images, each of one value, 50 times its class."""
    labels = np.eye(CLASSES, dtype=np.float32)
    images = np.broadcast_to(
        50 * np.arange(CLASSES, dtype=np.float32)[:, None, None, None], (CLASSES, *size, 3)
    )
    return {"images": images, "labels": labels}


def mixed(count=4000, **arguments):
    """Shares of the first image in many batches, and which batches were mixed by CutMix."""
    operation, generator, data = MixUpOrCutMix(**arguments), rng(), batch()
    shares, is_cut = [], []
    for _ in range(count):
        changed = operation(data, generator)
        shares.append(changed["labels"][0, 0])
        is_cut.append(set(np.unique(changed["images"])) <= {0, 50, 100, 150})
    return np.array(shares), np.array(is_cut)


def test_each_batch_is_mixed_in_one_of_two_ways():
    shares, is_cut = mixed(cutmix_chance=0.3, mixup_alpha=1.0)
    assert stats.binomtest(int(is_cut.sum()), len(is_cut), 0.3).pvalue > 1e-4
    assert (shares < 1).mean() > 0.95  # but for rectangles of no pixel


@pytest.mark.parametrize("alpha", [0.8, 1.0, 5.0])
def test_shares_of_mixup_are_of_the_beta_distribution(alpha):
    shares, is_cut = mixed(cutmix_chance=0, mixup_alpha=alpha)
    assert not is_cut.any()
    assert stats.kstest(shares, stats.beta(alpha, alpha).cdf).pvalue > 1e-4


def test_all_images_of_a_batch_are_mixed_with_the_one_before_in_one_share():
    changed = MixUpOrCutMix(cutmix_chance=0)(batch(), rng(1))
    share = changed["labels"][0, 0]
    np.testing.assert_allclose(changed["labels"], share * np.eye(4) + (1 - share) * np.eye(4)[[3, 0, 1, 2]])
    expected = 50 * changed["labels"] @ np.arange(CLASSES)
    np.testing.assert_allclose(changed["images"].mean((1, 2, 3)), expected, rtol=1e-5)
    assert (changed["images"].std((1, 2, 3)) < 1e-4).all()


def test_labels_of_cutmix_are_the_shares_of_the_pixels():
    for seed in range(50):
        changed = MixUpOrCutMix(cutmix_chance=1)(batch(), rng(seed))
        shares = (changed["images"][..., :1] == 50 * np.arange(CLASSES)).mean((1, 2))
        np.testing.assert_allclose(changed["labels"], shares, atol=1e-6)
        inside = changed["images"][1, ..., 0] == 0  # of the image of class 0
        rows, columns = np.flatnonzero(inside.any(1)), np.flatnonzero(inside.any(0))
        assert inside.sum() == len(rows) * len(columns)


def test_a_rectangle_has_the_aspect_of_the_image_and_its_area_unless_it_is_cut_off():
    places = [cut_rectangle((200, 100), 0.75, rng(seed)) for seed in range(2000)]
    heights, widths = (
        np.array([place[axis].stop - place[axis].start for place in places]) for axis in (0, 1)
    )
    assert heights.max() == 100 and widths.max() == 50  # the root of 0.25 is a half
    whole = (heights == 100) & (widths == 50)
    assert 0.2 < whole.mean() < 0.3  # the centre has to be in the middle half of each side
    starts = [place[0].start for place, fits in zip(places, whole, strict=True) if fits]
    assert stats.kstest(starts, stats.uniform(0, 100).cdf).statistic < 0.1


def test_the_images_that_are_given_stay_as_they_are():
    data = batch()
    images = np.array(data["images"])
    MixUpOrCutMix(cutmix_chance=1)({**data, "images": images}, rng())
    np.testing.assert_array_equal(images, data["images"])


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"mixup_alpha": 0}, "mixup_alpha has to be a number from 0.001 to 1000.0; received 0"),
        ({"cutmix_alpha": -1}, "cutmix_alpha has to be"),
        ({"cutmix_chance": 1.5}, "cutmix_chance has to be a number from 0 to 1; received 1.5"),
    ],
)
def test_wrong_arguments_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        MixUpOrCutMix(**arguments)
