"""The catalogue of image sets, the data set object, and the embedded digits."""

import hashlib

import grain
import numpy as np
import pytest
from sklearn.datasets import load_digits

from data_sets import DATASETS, ImageDataset, load_dataset
from data_sets.dataset import as_labels
from hsvit_runtime.errors import FileError


def small_dataset(count=4):
    images = np.arange(count * 12, dtype=np.uint8).reshape(count, 2, 2, 3)
    return ImageDataset("small", "train", ("a", "b"), (2, 2, 3), images, np.arange(count, dtype=np.int32) % 2)


def test_names():
    assert DATASETS == (
        "digits",
        "digits_segmentation",
        "digits_detection",
        "fashion_mnist",
        "emnist_balanced",
        "emnist_byclass",
        "emnist_bymerge",
        "emnist_digits",
        "emnist_letters",
        "emnist_mnist",
        "idx",
        "cifar10",
        "cifar100",
        "tiny_imagenet",
        "food101",
        "imagenet",
        "domainnet_clipart",
        "domainnet_infograph",
        "domainnet_painting",
        "domainnet_quickdraw",
        "domainnet_real",
        "domainnet_sketch",
        "coco",
        "voc",
        "folder",
    )


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"data='mnist' is not a known data set: .*digits, digits_seg"):
        load_dataset("mnist", "train")


def test_unknown_split():
    with pytest.raises(ValueError, match=r"split='val' is not a part .*train or test"):
        load_dataset("digits", "val")


def test_data_dir_that_is_a_file(tmp_path):
    archive = tmp_path / "cifar-10-python.tar.gz"
    archive.touch()
    with pytest.raises(FileError, match=r"cifar-10-python.tar.gz' is a file: give the folder"):
        load_dataset("cifar10", "train", archive)


@pytest.mark.parametrize(
    ("name", "title", "expected", "source"),
    [
        ("fashion_mnist", "Fashion-MNIST", "train-images-idx3-ubyte.gz", "zalandoresearch/fashion-mnist"),
        ("emnist_letters", "EMNIST letters", "-images-idx3-ubyte.gz or emnist-letters-", "NIST"),
        ("idx", "A set in the idx format", "train-labels-idx1-ubyte.gz", "Kuzushiji-MNIST"),
        ("domainnet_real", "DomainNet, real", "_train.txt and the folder real", "Boston University"),
        ("cifar10", "CIFAR-10", "cifar-10-python.tar.gz", "University of Toronto"),
        ("cifar100", "CIFAR-100", "cifar-100-python.tar.gz", "University of Toronto"),
        ("tiny_imagenet", "Tiny ImageNet", "tiny-imagenet-200.zip", "CS231n"),
        ("food101", "Food-101", "food-101.tar.gz", "ETH Zurich"),
        ("imagenet", "ImageNet", "train/ID/*.JPEG", "image-net.org"),
        ("folder", "A set of class folders", "train/CLASS/*.jpg", "images of your own"),
    ],
)
def test_missing_set_says_what_is_missing_where_and_whence(tmp_path, name, title, expected, source):
    with pytest.raises(FileNotFoundError) as caught:
        load_dataset(name, "train", tmp_path)
    for part in (f"{title} was not found in {tmp_path}:", expected, source):
        assert part in str(caught.value)
    with pytest.raises(FileNotFoundError, match="a folder that does not exist"):
        load_dataset(name, "test", tmp_path / "nowhere")


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in DATASETS
        if name not in ("digits", "digits_segmentation", "digits_detection", "fashion_mnist")
    ],
)
def test_missing_data_dir_says_how_to_give_it(name):
    with pytest.raises(FileNotFoundError, match=r"no data_dir was given \(--data_dir=DIR\)"):
        load_dataset(name, "train")


def test_data_dir_with_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=str(tmp_path / "data")):
        load_dataset("food101", "train", "~/data")


def test_random_access():
    dataset = small_dataset()
    assert len(dataset) == 4
    element = dataset[3]
    assert set(element) == {"image", "label"}
    assert element["image"].dtype == np.uint8
    assert element["label"].dtype == np.int32
    np.testing.assert_array_equal(element["image"].ravel(), np.arange(36, 48))
    assert element["label"] == 1
    assert np.shares_memory(element["image"], dataset.images)
    assert len(list(dataset)) == 4


def test_is_a_grain_source():
    elements = list(grain.MapDataset.source(small_dataset()).batch(3))
    assert [element["image"].shape for element in elements] == [(3, 2, 2, 3), (1, 2, 2, 3)]
    np.testing.assert_array_equal(elements[0]["label"], [0, 1, 0])


def test_repr_is_short():
    assert repr(small_dataset()) == (
        "ImageDataset(name='small', split='train', class_names=('a', 'b'), image_shape=(2, 2, 3), "
        "task='classification')"
    )


def test_images_and_labels_must_be_as_many():
    with pytest.raises(ValueError, match="small, train part: 3 images but 2 labels"):
        ImageDataset(
            "small", "train", ("a",), (1, 1, 1), np.zeros((3, 1, 1, 1), np.uint8), np.zeros(2, np.int32)
        )


def test_empty_part():
    with pytest.raises(ValueError, match="small, test part: there are no images"):
        ImageDataset(
            "small", "test", ("a",), (1, 1, 1), np.zeros((0, 1, 1, 1), np.uint8), np.zeros(0, np.int32)
        )


@pytest.mark.parametrize(
    ("labels", "message"), [([0, 1, 2], "label 2 at position 2"), ([-1, 0], "label -1 at position 0")]
)
def test_label_out_of_range(labels, message):
    with pytest.raises(ValueError, match=f"labels.bin: {message} is not one of 0 to 1"):
        as_labels(labels, 2, "labels.bin")


@pytest.fixture(scope="module")
def digits():
    return load_dataset("digits", "train"), load_dataset("digits", "test")


def test_digits_sizes(digits):
    train, test = digits
    assert (len(train), len(test)) == (1442, 355)
    assert len(train) + len(test) == 1797
    for part in digits:
        assert part.class_names == tuple("0123456789")
        assert part.image_shape == part[0]["image"].shape == (8, 8, 1)
        assert part.images.dtype == np.uint8
        assert part.labels.dtype == np.int32


def test_digits_are_scaled_to_255():
    original = load_digits()
    train = load_dataset("digits", "train")
    assert (train.images.min(), train.images.max()) == (0, 255)
    # The first digit is in the train part. 16 levels become 255 / 16 = 15.9375 apart, to the nearest.
    expected = [[round(level * 15.9375) for level in row] for row in original.images[0]]
    np.testing.assert_array_equal(train.images[0, ..., 0], expected)
    assert train.labels[0] == original.target[0]


def test_digits_parts_are_a_partition(digits):
    """Every image of scikit-learn's is in one part, with its label; no image is in both."""
    original = load_digits()
    pixels = np.round(original.images * 255 / 16).astype(np.uint8).reshape(1797, -1)
    expected = [(*row, label) for row, label in zip(pixels.tolist(), original.target.tolist(), strict=True)]
    parts = [
        {
            (*row, label)
            for row, label in zip(
                part.images.reshape(len(part), -1).tolist(), part.labels.tolist(), strict=True
            )
        }
        for part in digits
    ]
    assert len(set(expected)) == 1797  # so that sets lose nothing
    assert not parts[0] & parts[1]
    assert parts[0] | parts[1] == set(expected)


def test_digits_are_stratified(digits):
    train, test = (np.bincount(part.labels) for part in digits)
    np.testing.assert_array_equal(test, (train + test) // 5)


def test_digits_split_never_changes(digits):
    digests = [
        hashlib.sha256(part.images.tobytes() + part.labels.tobytes()).hexdigest()[:16] for part in digits
    ]
    assert digests == ["0d9c5288f6e33780", "3f53dde2e1e7e8a5"]


def test_digits_need_no_data_dir(tmp_path):
    assert len(load_dataset("digits", "test", tmp_path)) == 355
