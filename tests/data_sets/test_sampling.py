"""Validation parts that are split off: shares of the classes, seeds, and what is left."""

import numpy as np
import pytest

from data_sets import ImageDataset, few_of, load_dataset, load_validation, split_off
from data_sets.images import ImageFiles
from data_sets.sampling import spread_over_classes, strata
from tests.data_sets.making import write_class_folder

pytestmark = pytest.mark.once


def uneven():
    """Image i has the value i; classes of 60, 30 and 10 images."""
    images = np.arange(100, dtype=np.uint8).reshape(100, 1, 1, 1)
    labels = np.repeat([0, 1, 2], [60, 30, 10]).astype(np.int32)
    return ImageDataset("uneven", "train", tuple("abc"), (1, 1, 1), images, labels)


@pytest.mark.parametrize("share, counts", [(0.1, [6, 3, 1]), (0.2, [12, 6, 2]), (0.5, [30, 15, 5])])
def test_classes_keep_their_shares(share, counts):
    left, split = split_off(uneven(), share)
    assert np.bincount(split.labels).tolist() == counts
    assert np.bincount(left.labels).tolist() == [60 - counts[0], 30 - counts[1], 10 - counts[2]]
    assert (left.split, split.split) == ("train", "validation")


@pytest.mark.parametrize("share", [0.03, 0.07, 0.13, 0.29])
def test_shares_that_are_no_whole_numbers_are_within_one_image(share):
    _, split = split_off(uneven(), share)
    assert len(split) == round(100 * share)
    counts = np.bincount(split.labels, minlength=3)
    assert np.abs(counts - share * np.array([60, 30, 10])).max() <= 1


def test_every_image_is_on_one_side_with_its_label():
    left, split = split_off(uneven(), 0.3, seed=3)
    values = np.concatenate([left.images.ravel(), split.images.ravel()])
    assert sorted(values.tolist()) == list(range(100))
    for part in (left, split):
        np.testing.assert_array_equal(part.labels, uneven().labels[part.images.ravel()])


def test_the_seed_decides():
    one, again, other = (split_off(uneven(), 0.2, seed)[1].images.ravel().tolist() for seed in (1, 1, 2))
    assert one == again != other


def test_files_are_split_without_being_read():
    names = [f"{number}.png" for number in range(100)]
    dataset = ImageDataset("files", "train", tuple("abc"), (1, 1, 1), ImageFiles(names), uneven().labels)
    left, split = split_off(dataset, 0.1)
    assert sorted(left.images.paths + split.images.paths) == sorted(names)


@pytest.mark.parametrize("share", [0.004, 0.996])
def test_a_share_that_leaves_nothing_is_refused(share):
    with pytest.raises(ValueError, match=f"a share of {share} of the 100 images of uneven, train part"):
        split_off(uneven(), share)


def test_few_have_as_many_of_each_class_as_there_are():
    few = few_of(uneven(), 36)
    assert np.bincount(few.labels).tolist() == [13, 13, 10]
    values = few.images.ravel()
    assert (np.diff(values) > 0).all() and few.split == "train"
    np.testing.assert_array_equal(few.labels, uneven().labels[values])
    assert few_of(uneven(), 36, seed=1).images.ravel().tolist() != values.tolist()


def test_masks_with_the_same_classes_are_alike():
    masks = np.zeros((5, 2, 2), np.int32)
    masks[1, 0, 0] = masks[3, 1, 1] = 4
    masks[2] = 4
    numbers = strata(masks)
    assert numbers[0] == numbers[4] and numbers[1] == numbers[3]
    assert len(set(numbers.tolist())) == 3
    assert set(spread_over_classes(masks, 3).tolist()) & {2}


def test_a_folder_of_three_parts_has_its_own_validation_part(tmp_path):
    for part, count in (("train", 3), ("val", 2), ("test", 1)):
        for name in ("cat", "dog"):
            write_class_folder(tmp_path / part / name, count)
    validation = load_validation("folder", tmp_path)
    assert (validation.split, len(validation), validation.class_names) == ("validation", 4, ("cat", "dog"))
    assert len(load_dataset("folder", "test", tmp_path)) == 2


def test_other_sets_have_none(tmp_path):
    assert load_validation("digits") is None
    for part in ("train", "val"):
        write_class_folder(tmp_path / part / "cat", 2)
    assert load_validation("folder", tmp_path) is None  # val is the test part
