"""Repeated augmentation: each image of an epoch comes in several batches, an epoch stays as long as it is."""

import numpy as np
import pytest

from data_sets import ImageDataset, batches
from data_sets.orders import check_views, shuffled


def rng(seed=0):
    return np.random.default_rng(seed)


def test_one_view_is_a_permutation():
    np.testing.assert_array_equal(shuffled(50, 1, rng(1)), rng(1).permutation(50))


@pytest.mark.parametrize("count, views", [(90, 3), (91, 3), (92, 3), (40, 2)])
def test_an_epoch_has_a_part_of_the_images_several_times(count, views):
    counts = np.bincount(shuffled(count, views, rng()), minlength=count)
    assert counts.sum() == count and counts.max() == views
    assert (counts > 0).sum() == -(-count // views)


@pytest.mark.parametrize("count, views, batch_size", [(90, 3, 16), (91, 3, 16), (97, 3, 8), (40, 2, 11)])
def test_views_are_in_different_batches_wherever_these_begin(count, views, batch_size):
    check_views(count, views, batch_size)
    for seed in range(50):
        order = shuffled(count, views, rng(seed))
        for start in range(count - batch_size + 1):
            batch = order[start : start + batch_size]
            assert len(set(batch.tolist())) == batch_size


def test_views_meet_other_images():
    """The neighbours of an image, which it is mixed with, differ from view to view."""
    order = shuffled(3000, 3, rng())
    pairs = set(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
    assert len(pairs) > 2980  # of 2999: some meet again by chance


def test_all_images_come_in_the_end():
    seen = {position for epoch in range(40) for position in shuffled(30, 3, rng((0, epoch))).tolist()}
    assert seen == set(range(30))


def test_batches_hold_the_views(tmp_path):
    pixels = np.arange(60, dtype=np.uint8)[:, None, None, None] * np.ones((1, 2, 2, 1), np.uint8)
    dataset = ImageDataset("numbered", "train", ("a",), (2, 2, 1), pixels, np.zeros(60, np.int32))
    options = {"batch_size": 10, "image_shape": (2, 2, 1), "shuffle": True, "views": 3}
    found = [images[:, 0, 0, 0].astype(int).tolist() for images, _ in batches(dataset, epochs=2, **options)]
    assert len(found) == 12 and all(len(set(batch)) == 10 for batch in found)
    for epoch in (found[:6], found[6:]):
        assert set(np.bincount(np.ravel(epoch), minlength=60)) == {0, 3}
    with pytest.raises(
        ValueError, match="views=3 of 60 images are in different batches if batch_size is at most 11"
    ):
        batches(dataset, **{**options, "batch_size": 12})
    with pytest.raises(ValueError, match="views=0 must be at least 1"):
        batches(dataset, **{**options, "views": 0})
