"""Digits on a plain background: masks lie on the digits, and the images are the same each time."""

import numpy as np
import pytest

from data_sets import digits_segmentation, load_dataset

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def parts():
    return {split: load_dataset("digits_segmentation", split) for split in ("train", "test")}


def test_shapes_and_classes(parts):
    assert {split: len(part) for split, part in parts.items()} == {"train": 1442, "test": 355}
    for part in parts.values():
        assert part.task == "segmentation"
        assert part.class_names == ("background", *"0123456789")
        assert part.images.shape == (len(part), 32, 32, 1) and part.images.dtype == np.uint8
        assert part.labels.shape == (len(part), 32, 32) and part.labels.dtype == np.int32


def test_each_mask_holds_the_background_and_the_class_of_its_digit(parts):
    for split, part in parts.items():
        digits = load_dataset("digits", split).labels
        for mask, digit in zip(part.labels, digits, strict=True):
            assert set(np.unique(mask).tolist()) == {0, 1 + digit}


def test_the_background_is_plain_and_the_digit_clearly_lighter(parts):
    for image, mask in zip(parts["test"].images[..., 0].astype(int), parts["test"].labels, strict=True):
        background = image.min()
        assert (image == background).mean() > 0.25  # the rest is the digit and its blurred edge
        assert image[mask > 0].min() > image[mask == 0].max() - 1  # masks are where ink is more than half
        assert (image[mask > 0] - background).min() >= 40  # half of the least contrast


def test_the_images_are_the_same_each_time(parts):
    again = digits_segmentation.load("test")
    np.testing.assert_array_equal(again.images, parts["test"].images)
    np.testing.assert_array_equal(again.labels, parts["test"].labels)
