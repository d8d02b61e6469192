"""CIFAR-10 and CIFAR-100 in each official form, and pickles that want more than arrays."""

import os
import pickle
import warnings

import numpy as np
import pytest

from data_sets import array_pickle, load_dataset
from tests.data_sets.making import python2_pickle, write_archive, write_files

PER_FILE = 3
CIFAR10_NAMES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
CIFAR100_NAMES = [f"fine{number}" for number in range(100)]


def planes(count, seed):
    """Random pixels as CIFAR stores them: a row an image, all red, then all green, then all blue."""
    return np.random.default_rng(seed).integers(0, 256, (count, 3072), dtype=np.uint8)


def cifar10_files(binary):
    """({name: bytes}, pixels by split, labels by split) of a tiny CIFAR-10."""
    files, pixels, labels = {}, {"train": [], "test": []}, {"train": [], "test": []}
    names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    for seed, name in enumerate(names):
        split = "test" if name == "test_batch" else "train"
        data, targets = planes(PER_FILE, seed), [(seed * 3 + i) % 10 for i in range(PER_FILE)]
        pixels[split].append(data)
        labels[split] += targets
        if binary:
            rows = [bytes([target]) + row.tobytes() for target, row in zip(targets, data, strict=True)]
            files[f"cifar-10-batches-bin/{name}.bin"] = b"".join(rows)
        else:
            batch = {
                b"batch_label": b"a batch",
                b"labels": targets,
                b"data": data,
                b"filenames": [b"x.png"] * 3,
            }
            files[f"cifar-10-batches-py/{name}"] = python2_pickle(batch)
    if binary:
        files["cifar-10-batches-bin/batches.meta.txt"] = ("\n".join(CIFAR10_NAMES) + "\n\n").encode()
    else:
        meta = {b"num_cases_per_batch": 10000, b"label_names": [name.encode() for name in CIFAR10_NAMES]}
        files["cifar-10-batches-py/batches.meta"] = python2_pickle(meta)
    return files, pixels, labels


def cifar100_files(binary):
    files, pixels, labels = {}, {}, {}
    for seed, split in enumerate(("train", "test")):
        data, fine, coarse = planes(PER_FILE, seed), [99, seed, 50], [19, 0, 10]
        pixels[split], labels[split] = [data], fine
        if binary:
            rows = zip(coarse, fine, data, strict=True)
            files[f"cifar-100-binary/{split}.bin"] = b"".join(
                bytes([c, f]) + row.tobytes() for c, f, row in rows
            )
        else:
            batch = {
                b"fine_labels": fine,
                b"coarse_labels": coarse,
                b"data": data,
                b"filenames": [b"x.png"] * 3,
            }
            files[f"cifar-100-python/{split}"] = python2_pickle(batch)
    if binary:
        files["cifar-100-binary/fine_label_names.txt"] = "\n".join(CIFAR100_NAMES).encode()
        files["cifar-100-binary/coarse_label_names.txt"] = b"coarse"
    else:
        meta = {
            b"fine_label_names": [name.encode() for name in CIFAR100_NAMES],
            b"coarse_label_names": [b"coarse"],
        }
        files["cifar-100-python/meta"] = python2_pickle(meta)
    return files, pixels, labels


SETS = {"cifar10": (cifar10_files, CIFAR10_NAMES), "cifar100": (cifar100_files, CIFAR100_NAMES)}
ARCHIVES = {
    ("cifar10", False): "cifar-10-python.tar.gz",
    ("cifar10", True): "cifar-10-binary.tar.gz",
    ("cifar100", False): "cifar-100-python.tar.gz",
    ("cifar100", True): "cifar-100-binary.tar.gz",
}


@pytest.mark.parametrize("form", ["archive", "folder", "inside the folder"])
@pytest.mark.parametrize("binary", [False, True], ids=["python", "binary"])
@pytest.mark.parametrize("name", ["cifar10", "cifar100"])
def test_reads_every_official_form(tmp_path, name, binary, form):
    make, class_names = SETS[name]
    files, pixels, labels = make(binary)
    data_dir = tmp_path
    if form == "archive":
        # An archive's order is its own: the test part first, the names last.
        write_archive(tmp_path / ARCHIVES[name, binary], dict(reversed(files.items())))
    else:
        write_files(tmp_path, files)
        if form == "inside the folder":
            (data_dir,) = tmp_path.iterdir()
    for split in ("train", "test"):
        dataset = load_dataset(name, split, data_dir)
        expected = np.concatenate(pixels[split])
        assert dataset.class_names == tuple(class_names)
        assert dataset.image_shape == (32, 32, 3)
        np.testing.assert_array_equal(dataset.labels, labels[split])
        assert dataset.labels.dtype == np.int32
        assert dataset.images.shape == (len(expected), 32, 32, 3)
        assert dataset.images.flags.c_contiguous
        # Red of row 0 is bytes 0 to 31; green of the last row ends at byte 2047; blue comes last.
        np.testing.assert_array_equal(dataset.images[:, 0, :, 0], expected[:, :32])
        np.testing.assert_array_equal(dataset.images[:, 31, :, 1], expected[:, 2016:2048])
        np.testing.assert_array_equal(dataset.images[:, 5, 7, 2], expected[:, 2048 + 5 * 32 + 7])


def test_python2_pickle_of_these_tests_is_a_pickle():
    """NumPy's own reader agrees on what the hand-made official files hold."""
    batch = {b"labels": [3, 1], b"data": planes(2, 0), b"fortran": np.asfortranarray(planes(2, 1))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy deprecates the module path that old pickles name
        expected = pickle.loads(python2_pickle(batch), encoding="bytes")
    for found in (expected, array_pickle.loads(python2_pickle(batch))):
        assert found[b"labels"] == [3, 1]
        np.testing.assert_array_equal(found[b"data"], batch[b"data"])
        np.testing.assert_array_equal(found[b"fortran"], batch[b"fortran"])


@pytest.mark.parametrize("protocol", [3, 4])
def test_pickles_of_python_3(protocol):
    batch = {b"labels": [1, 2], "names": ["a"], b"data": planes(2, 0)}
    found = array_pickle.loads(pickle.dumps(batch, protocol))
    np.testing.assert_array_equal(found[b"data"], batch[b"data"])
    assert found["names"] == ["a"]


class Evil:
    """A pickle that runs a command when it is read as usual."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_pickle_that_runs_code_is_refused_and_runs_nothing(tmp_path):
    files, _, _ = cifar10_files(binary=False)
    files["cifar-10-batches-py/data_batch_2"] = pickle.dumps(
        {b"labels": [0], b"data": Evil(tmp_path / "owned")}
    )
    write_files(tmp_path, files)
    with pytest.raises(ValueError, match=r"data_batch_2 .*asks for (posix|nt|os)\.mkdir, which is refused"):
        load_dataset("cifar10", "train", tmp_path)
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"cnumpy\nload\n(S'x'\ntR.",
        b"cnumpy\n__builtins__\n.",
        b"\x80\x04\x8c\x05numpy\x8c\x0fndarray.__new__\x93.",
        pickle.dumps(np.array([{}], object)),
        pickle.dumps(np.zeros(3, np.float32)),
        pickle.dumps(1 + 2j),
    ],
)
def test_everything_but_arrays_of_bytes_is_refused(content):
    with pytest.raises(ValueError, match=r"the pickle cannot be read: it (asks for|holds an array of)"):
        array_pickle.loads(content)


def test_array_with_another_size_than_its_bytes():
    content = python2_pickle(planes(2, 0)).replace(b"J\x02\x00\x00\x00", b"J\xff\xff\xff\x7f")
    with pytest.raises(ValueError, match="cannot be read: cannot reshape"):
        array_pickle.loads(content)


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-500], lambda content: b"", lambda content: b"<html>"]
)
def test_truncated_pickle_is_named(tmp_path, damage):
    files, _, _ = cifar10_files(binary=False)
    files["cifar-10-batches-py/data_batch_4"] = damage(files["cifar-10-batches-py/data_batch_4"])
    write_files(tmp_path, files)
    with pytest.raises(ValueError, match=r"cifar-10-batches-py/data_batch_4 is damaged"):
        load_dataset("cifar10", "train", tmp_path)
    assert len(load_dataset("cifar10", "test", tmp_path)) == PER_FILE


def test_truncated_records_are_named(tmp_path):
    files, _, _ = cifar100_files(binary=True)
    files["cifar-100-binary/test.bin"] = files["cifar-100-binary/test.bin"][:-1]
    write_files(tmp_path, files)
    with pytest.raises(
        ValueError, match=r"test.bin is damaged .*9221 bytes are no whole number of records of 3074"
    ):
        load_dataset("cifar100", "test", tmp_path)


def test_truncated_archive_is_named(tmp_path):
    files, _, _ = cifar10_files(binary=False)
    archive = tmp_path / "cifar-10-python.tar.gz"
    write_archive(archive, files)
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    with pytest.raises(ValueError, match=f"{archive} is truncated or damaged"):
        load_dataset("cifar10", "train", tmp_path)


def test_file_that_is_no_archive_is_named(tmp_path):
    (tmp_path / "cifar-100-python.tar.gz").write_text("<html>404</html>")
    with pytest.raises(ValueError, match=r"cifar-100-python.tar.gz is truncated or damaged"):
        load_dataset("cifar100", "train", tmp_path)


def test_archive_that_lacks_a_batch(tmp_path):
    files, _, _ = cifar10_files(binary=False)
    del files["cifar-10-batches-py/data_batch_3"]
    write_archive(tmp_path / "cifar-10-python.tar.gz", files)
    with pytest.raises(FileNotFoundError, match="there is no cifar-10-batches-py/data_batch_3 in it"):
        load_dataset("cifar10", "train", tmp_path)


def test_folder_that_lacks_a_batch(tmp_path):
    files, _, _ = cifar10_files(binary=True)
    del files["cifar-10-batches-bin/data_batch_5.bin"]
    write_files(tmp_path, files)
    with pytest.raises(FileNotFoundError, match=r"data_batch_5.bin"):
        load_dataset("cifar10", "train", tmp_path)


def test_label_out_of_range(tmp_path):
    files, _, _ = cifar100_files(binary=False)
    batch = {b"fine_labels": [0, 100], b"data": planes(2, 0)}
    files["cifar-100-python/train"] = python2_pickle(batch)
    write_files(tmp_path, files)
    with pytest.raises(
        ValueError, match="cifar-100-python/train: label 100 at position 1 is not one of 0 to 99"
    ):
        load_dataset("cifar100", "train", tmp_path)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({b"labels": [0]}, "there is no entry b'data'"),
        ({b"data": planes(1, 0)}, "there is no entry b'labels'"),
        ([1, 2], "damaged or not the official file"),
        ({b"data": planes(2, 0), b"labels": [0]}, r"pixels of shape \(2, 3072\) for 1 labels"),
        ({b"data": planes(2, 0)[:, :100], b"labels": [0, 1]}, r"pixels of shape \(2, 100\)"),
        ({b"data": [1], b"labels": [0]}, r"pixels of shape \(1,\) for 1 labels"),
        ({b"data": planes(1, 0), b"labels": [b"cat"]}, "damaged or not the official file"),
    ],
)
def test_pickle_of_something_else(tmp_path, batch, message):
    files, _, _ = cifar10_files(binary=False)
    files["cifar-10-batches-py/test_batch"] = python2_pickle(batch)
    write_files(tmp_path, files)
    with pytest.raises(ValueError, match=f"test_batch.*{message}"):
        load_dataset("cifar10", "test", tmp_path)
