"""Sets of idx files beside Fashion-MNIST: EMNIST's splits, and any that names its files as MNIST does."""

import numpy as np
import pytest

from data_sets import load_dataset
from tests.data_sets.making import write_idx_pair

# An L as it should be seen.
LETTER = np.zeros((28, 28), np.uint8)
LETTER[4:24, 6:9] = 255
LETTER[21:24, 6:20] = 255


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("split", ["train", "test"])
def test_emnist_letters_are_upright_and_counted_from_one(tmp_path, split, compressed):
    """The official files hold each image transposed; label 1 is A and label 26 is Z."""
    images = np.stack([LETTER.T] * 3)
    write_idx_pair(tmp_path, f"emnist-letters-{split}", images, [12, 1, 26], compressed)
    dataset = load_dataset("emnist_letters", split, tmp_path)
    np.testing.assert_array_equal(dataset[0]["image"][..., 0], LETTER)
    assert dataset.image_shape == (28, 28, 1)
    assert [dataset.class_names[label] for label in dataset.labels] == ["L", "A", "Z"]
    assert dataset.labels.dtype == np.int32


@pytest.mark.parametrize(
    ("variant", "num_classes", "names"),
    [
        # From EMNIST's files emnist-...-mapping.txt, which give a label's ASCII codes.
        ("balanced", 47, {0: "0", 9: "9", 10: "A", 35: "Z", 36: "a", 37: "b", 38: "d", 43: "n", 46: "t"}),
        ("bymerge", 47, {10: "A", 42: "h", 44: "q", 45: "r"}),
        ("byclass", 62, {9: "9", 10: "A", 36: "a", 61: "z"}),
        ("digits", 10, {7: "7"}),
        ("mnist", 10, {0: "0"}),
    ],
)
def test_emnist_class_names(tmp_path, variant, num_classes, names):
    write_idx_pair(tmp_path, f"emnist-{variant}-train", [LETTER] * len(names), list(names))
    dataset = load_dataset(f"emnist_{variant}", "train", tmp_path)
    assert len(dataset.class_names) == len(set(dataset.class_names)) == num_classes
    assert [dataset.class_names[label] for label in dataset.labels] == list(names.values())


def test_emnist_in_the_folder_of_its_archive(tmp_path):
    (tmp_path / "gzip").mkdir()
    write_idx_pair(tmp_path / "gzip", "emnist-digits-test", [LETTER], [3])
    assert load_dataset("emnist_digits", "test", tmp_path).labels.tolist() == [3]


def test_emnist_label_out_of_range(tmp_path):
    write_idx_pair(tmp_path, "emnist-digits-test", [LETTER], [10])
    with pytest.raises(ValueError, match=r"emnist-digits-test-labels.*: label 10 at position 0"):
        load_dataset("emnist_digits", "test", tmp_path)


def test_any_set_named_as_mnist(tmp_path):
    write_idx_pair(tmp_path, "train", [LETTER, 255 - LETTER], [1, 0])
    write_idx_pair(tmp_path, "t10k", [LETTER], [4])
    train, test = (load_dataset("idx", split, tmp_path) for split in ("train", "test"))
    assert train.class_names == test.class_names == ("0", "1", "2", "3", "4")
    np.testing.assert_array_equal(train.images[1, ..., 0], 255 - LETTER)
    assert (train.labels.tolist(), test.labels.tolist()) == ([1, 0], [4])
