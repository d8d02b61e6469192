"""Random erasing draws rectangles as defined, and fills them with noise of the normalized images."""

import numpy as np
import pytest
from scipy import stats

from training.augmenting.erasing import RandomErasing

pytestmark = pytest.mark.once

SIZE = (224, 160)


def rng(seed=0):
    return np.random.default_rng(seed)


def erased(images, **arguments):
    return RandomErasing(**arguments)({"images": images}, rng())["images"]


def sides(count=20_000, **arguments):
    """Heights and widths of rectangles, two arrays, and how many there are of none."""
    operation, generator = RandomErasing(**arguments), rng()
    places = [operation.rectangle(SIZE, generator) for _ in range(count)]
    assert all(rows.stop <= SIZE[0] and columns.stop <= SIZE[1] for rows, columns in places)
    heights, widths = (
        np.array([place[axis].stop - (place[axis].start or 0) for place in places]) for axis in (0, 1)
    )
    return heights, widths


def test_each_image_is_changed_by_chance_and_in_one_rectangle():
    images = np.full((4000, 12, 16, 1), 100, np.float32)
    changed = erased(images, chance=0.25) != images
    counts = changed.any((1, 2, 3)).sum()
    assert stats.binomtest(int(counts), len(images), 0.25).pvalue > 1e-4
    for image in changed[changed.any((1, 2, 3))][:200, ..., 0]:
        rows, columns = np.flatnonzero(image.any(1)), np.flatnonzero(image.any(0))
        assert image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].all()
    assert (images == 100).all()


def test_area_is_even_and_the_logarithm_of_the_aspect_too():
    """Of small rectangles, none of which has to be drawn again for being larger than the image."""
    heights, widths = sides(area=(0.02, 0.1))
    shares = heights * widths / (SIZE[0] * SIZE[1])
    # Sides are rounded to whole pixels, by a percent or two of theirs.
    assert stats.kstest(shares, stats.uniform(0.02, 0.08).cdf).statistic < 0.02
    logarithms = np.log(heights / widths)
    ends = np.log(0.3), np.log(1 / 0.3)
    assert stats.kstest(logarithms, stats.uniform(ends[0], ends[1] - ends[0]).cdf).statistic < 0.02


def test_places_are_even():
    operation, generator = RandomErasing(area=(0.1, 0.1), aspect=(1, 1)), rng()
    places = [operation.rectangle((20, 30), generator) for _ in range(20_000)]
    side = round(np.sqrt(0.1 * 600))
    for axis, whole in enumerate((20, 30)):
        counts = np.bincount([place[axis].start for place in places])
        assert len(counts) == whole - side + 1
        assert stats.chisquare(counts).pvalue > 1e-4


def test_rectangles_are_smaller_than_the_image():
    """One that is too high is drawn again, and where none ever fits there is none."""
    heights, widths = sides(1000, area=(0.3, 1 / 3), aspect=(0.1, 10))
    assert heights.max() < SIZE[0] and widths.max() < SIZE[1] and (heights > 0).all()
    heights, _ = sides(10, area=(1, 1), aspect=(1, 1))
    assert (heights == 0).all()


def test_noise_is_normal_behind_the_normalization():
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    images = np.full((200, 32, 32, 3), -1000, np.float32)
    changed = erased(images, chance=1.0, mean=mean.tolist(), std=std.tolist())
    noise = ((changed / 255 - mean) / std)[changed[..., 0] > -1000]
    for channel in range(3):
        assert stats.kstest(noise[:, channel], "norm").pvalue > 1e-4
    assert abs(np.corrcoef(noise.T) - np.eye(3)).max() < 0.02  # each channel for itself
    assert abs(np.corrcoef(noise[:-1, 0], noise[1:, 0])[0, 1]) < 0.02  # and each pixel


def test_without_deviation_it_is_the_mean():
    changed = erased(np.zeros((4, 16, 16, 1), np.float32), chance=1.0, mean=0.2, std=0)
    assert {*np.unique(changed).tolist()} == {0.0, 51.0}


def test_the_generator_decides_all():
    images = np.zeros((8, 16, 16, 1), np.float32)
    np.testing.assert_array_equal(erased(images), erased(images))


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"chance": 2}, "chance has to be a number from 0 to 1; received 2"),
        ({"area": 0.3}, "area has to be a pair of numbers in order, more than 0 and at most 1; received 0.3"),
        ({"area": (0.5, 0.2)}, "area has to be a pair"),
        ({"aspect": (0, 3)}, "aspect has to be a pair"),
        ({"mean": (0.5, 124)}, "mean has to be a number from 0 to 1; received 124"),
    ],
)
def test_wrong_arguments_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        RandomErasing(**arguments)


def test_a_mean_of_other_channels_is_refused():
    with pytest.raises(ValueError, match="need one number, or one for each of 1 channels"):
        erased(np.zeros((4, 16, 16, 1), np.float32), mean=(0.5, 0.5, 0.5))
