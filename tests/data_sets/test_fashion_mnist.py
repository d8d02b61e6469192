"""Fashion-MNIST: its idx files, tiny ones made here and the real ones of Debian's package."""

import gzip
import pathlib
import tracemalloc

import numpy as np
import pytest

from data_sets import idx, load_dataset
from tests.data_sets.making import idx_bytes, write_fashion_mnist

DEBIAN_FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")
needs_real_set = pytest.mark.skipif(
    not DEBIAN_FOLDER.is_dir(), reason="Debian's package dataset-fashion-mnist is not installed"
)


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("split", ["train", "test"])
def test_reads_official_files(tmp_path, images, split, compressed):
    write_fashion_mnist(tmp_path, split, images, [9, 0, 3, 3, 1], compressed)
    dataset = load_dataset("fashion_mnist", split, tmp_path)
    assert dataset.image_shape == (28, 28, 1)
    np.testing.assert_array_equal(dataset.images, images[..., None])
    np.testing.assert_array_equal(dataset.labels, [9, 0, 3, 3, 1])
    assert dataset.labels.dtype == np.int32
    assert dataset.class_names[9] == "Ankle boot"


def test_labels_file_is_missing(tmp_path, images):
    write_fashion_mnist(tmp_path, "train", images, [0] * 5)
    (tmp_path / "train-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(
        FileNotFoundError, match=r"expected train-labels-idx1-ubyte.gz or train-labels-idx1-ubyte"
    ):
        load_dataset("fashion_mnist", "train", tmp_path)


def test_label_out_of_range(tmp_path, images):
    write_fashion_mnist(tmp_path, "test", images, [0, 1, 10, 3, 4])
    with pytest.raises(
        ValueError, match=r"t10k-labels-idx1-ubyte.gz: label 10 at position 2 is not one of 0 to 9"
    ):
        load_dataset("fashion_mnist", "test", tmp_path)


def test_more_images_than_labels(tmp_path, images):
    write_fashion_mnist(tmp_path, "train", images, [0, 1, 2])
    with pytest.raises(ValueError, match="fashion_mnist, train part: 5 images but 3 labels"):
        load_dataset("fashion_mnist", "train", tmp_path)


def test_read_idx_keeps_the_order_of_axes(tmp_path):
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    path = tmp_path / "array"
    path.write_bytes(idx_bytes(array))
    np.testing.assert_array_equal(idx.read(path, rank=3), array)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-1], "truncated or damaged: 23 bytes of data for shape"),
        (lambda content: content + b"\0", "truncated or damaged: 25 bytes of data for shape"),
        (lambda content: content[:9], "truncated or damaged"),
        (lambda content: b"", "not an idx file of bytes with 3 axes"),
        (lambda content: b"<html>" + content, "not an idx file of bytes with 3 axes"),
        (lambda content: b"\0\0\x0d" + content[3:], "not an idx file of bytes"),  # floats
        (lambda content: content[:3] + b"\1" + content[4:], "not an idx file of bytes with 3 axes"),
    ],
)
def test_damaged_idx_file_is_named(tmp_path, change, message):
    path = tmp_path / "some-idx3-ubyte"
    path.write_bytes(change(idx_bytes(np.zeros((2, 3, 4)))))
    with pytest.raises(ValueError, match=f"{path} is {message}"):
        idx.read(path, rank=3)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[: len(content) // 2],
        lambda content: b"not gzip" + content,
        lambda content: content[:-12] + b"\xff" * 4 + content[-8:],
    ],
)
def test_damaged_gzip_file_is_named(tmp_path, change):
    path = tmp_path / "some-idx1-ubyte.gz"
    random = np.random.default_rng(0).integers(0, 256, 1000)
    path.write_bytes(change(gzip.compress(idx_bytes(random))))
    with pytest.raises(ValueError, match=f"{path} is truncated or damaged"):
        idx.read(path, rank=1)


@pytest.fixture(scope="module")
def real():
    return {split: load_dataset("fashion_mnist", split) for split in ("train", "test")}


@needs_real_set
@pytest.mark.parametrize(("split", "count", "per_class"), [("train", 60_000, 6_000), ("test", 10_000, 1_000)])
def test_real_set(real, split, count, per_class):
    dataset = real[split]
    assert len(dataset) == count
    assert dataset.images.shape == (count, 28, 28, 1)
    assert np.bincount(dataset.labels).tolist() == [per_class] * 10


@needs_real_set
def test_real_class_names(real):
    """The names are those of the official README, in which 0 is a T-shirt and 9 an ankle boot."""
    assert real["train"].class_names == (
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    )


@needs_real_set
def test_names_fit_the_real_images(real):
    """Shoes are low and wide, trousers high and narrow: what the pictures show agrees with the names."""
    train = real["train"]
    lit = train.images[..., 0] > 30
    heights = np.any(lit, axis=2).sum(axis=1)
    widths = np.any(lit, axis=1).sum(axis=1)
    aspect = {
        name: np.median((widths / heights)[train.labels == i]) for i, name in enumerate(train.class_names)
    }
    assert aspect["Sneaker"] > 1.5
    assert aspect["Sandal"] > 1.2
    assert aspect["Trouser"] < 0.6
    assert aspect["Dress"] < 0.7


@needs_real_set
def test_real_images_are_in_memory_once():
    tracemalloc.start()
    dataset = load_dataset("fashion_mnist", "train")
    now, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert now < 1.05 * dataset.images.nbytes
    assert np.shares_memory(dataset[0]["image"], dataset.images)
