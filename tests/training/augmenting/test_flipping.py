"""Mirror images of some images of a batch, and of their masks."""

import numpy as np
import pytest

from training.augmenting.flipping import RandomFlip

IMAGES = np.random.default_rng(0).integers(0, 256, (400, 4, 5, 3), dtype=np.uint8)
MIRRORS = {
    "horizontal": [lambda image: image, lambda image: image[:, ::-1]],
    "vertical": [lambda image: image, lambda image: image[::-1]],
    "horizontal_and_vertical": [
        lambda image: image,
        lambda image: image[:, ::-1],
        lambda image: image[::-1],
        lambda image: image[::-1, ::-1],
    ],
}


@pytest.mark.parametrize("mode", list(MIRRORS))
def test_each_mirror_image_is_as_frequent(mode):
    masks = IMAGES[..., :1]
    before = IMAGES.copy()
    data = {"images": IMAGES, "segmentation_masks": masks, "labels": 7}
    changed = RandomFlip(mode)(data, np.random.default_rng(1))
    np.testing.assert_array_equal(IMAGES, before)
    assert changed["images"].dtype == np.uint8 and changed["labels"] == 7
    np.testing.assert_array_equal(changed["segmentation_masks"], changed["images"][..., :1])
    counts = [
        sum((result == mirror(image)).all() for image, result in zip(IMAGES, changed["images"], strict=True))
        for mirror in MIRRORS[mode]
    ]
    assert sum(counts) == 400
    expected = 400 / len(counts)
    assert all(abs(count - expected) < 4 * (expected * (1 - 1 / len(counts))) ** 0.5 for count in counts)


def test_is_a_function_of_the_generator():
    one, other = (RandomFlip()({"images": IMAGES}, np.random.default_rng(3))["images"] for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_unknown_mode_is_named():
    with pytest.raises(ValueError, match=r"mode has to be one of horizontal, vertical, .*; received 'left'"):
        RandomFlip("left")
