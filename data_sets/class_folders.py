"""Any folder with one folder of images a class: the set "folder", and what other sets share with it.

Either the parts are folders, train/CLASS/* and test/CLASS/* (or val/CLASS/*; where there are all three, val
is the validation part), or there are only class folders. Then a hash of each file's name decides its part,
so that images added later leave the others where they were. All of this may be in a zip or tar file.
"""

import contextlib
import hashlib
import os

import numpy as np

from data_sets.dataset import ImageDataset
from data_sets.folders import file_in, file_names, subfolders, walk
from data_sets.images import ImageFiles
from data_sets.locating import missing
from hsvit_runtime.errors import FileError, InputError

IMAGE_SUFFIXES = (
    *(".bmp", ".gif", ".jfif", ".jpe", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm"),
    *(".tif", ".tiff", ".webp"),
)
_TEST_FRACTION = 0.2
_USUAL_SHAPE = (224, 224, 3)


def load(split, data_dir=None):
    """Opens a folder of class folders; the classes are sorted by name.

    Args:
        split: "train" or "test".
        data_dir: path of the folder, or a folder in an archive.

    Returns:
        An `ImageDataset`; its `image_shape` is that of the first image that can be read, if any.

    Raises:
        FileNotFoundError: there are no class folders, or none to test.
        ValueError: a class folder has no images, or the parts have different classes.
    """
    if data_dir is None or not subfolders(data_dir):
        raise _missing(data_dir)
    if subfolders(data_dir / "train"):
        folder, list_part = _part_folder(split, data_dir), list_images
    else:
        folder, list_part = data_dir, lambda class_folder: hashed_part(split, list_images(class_folder))
    return _of_classes(split, folder, list_part)


def load_validation(data_dir):
    """Opens the validation part of a folder that has train, val and test.

    Returns:
        An `ImageDataset`, or None where there is no such part.
    """
    if data_dir is None or not all(subfolders(data_dir / name) for name in ("train", "val", "test")):
        return None
    check_same_classes(data_dir / "train", data_dir / "val")
    return _of_classes("validation", data_dir / "val", list_images)


def list_images(folder):
    """The images in `folder`, known by their suffix and sorted by name, as `ImageFiles` takes them.

    Raises:
        ValueError: there are none, or there are some in a folder inside of it, which has no class.
    """
    images = [file_in(folder, name) for name in file_names(folder) if is_image(name)]
    nested = next(
        (file for name in subfolders(folder) for file in walk(folder / name) if is_image(file)), None
    )
    if nested:
        raise InputError(f"{nested} is in a folder inside of {folder}: its images have to be in it directly")
    if not images:
        raise InputError(f"{folder} holds no images: expected files ending in {', '.join(IMAGE_SUFFIXES)}")
    return images


def is_image(file):
    """Whether a file, or its name, ends as those of images do."""
    return str(file).lower().endswith(IMAGE_SUFFIXES)


def left_out(data_dir, datasets):
    """The files in a folder that are in none of its data sets; hidden ones do not count.

    Args:
        data_dir: path, or an archive's folder.
        datasets: list of `ImageDataset`.

    Returns:
        list of str.
    """
    taken = {str(path) for dataset in datasets for path in dataset.images.paths}
    return [file for file in map(str, walk(data_dir)) if file not in taken]


def gather(paths_by_class):
    """Joins the images of all classes.

    Args:
        paths_by_class: for each label in turn, a list of what `ImageFiles` takes.

    Returns:
        An `ImageFiles` and its labels, an int32 array.
    """
    labels = np.repeat(
        np.arange(len(paths_by_class), dtype=np.int32), [len(paths) for paths in paths_by_class]
    )
    return ImageFiles([path for paths in paths_by_class for path in paths]), labels


def check_same_classes(train_folder, test_folder):
    """Raises a ValueError unless both folders have class folders of the same names."""
    train, test = set(subfolders(train_folder)), set(subfolders(test_folder))
    for lacking, other, names in (
        (test_folder, train_folder, train - test),
        (train_folder, test_folder, test - train),
    ):
        if names:
            raise InputError(
                f"{lacking} has no folder for {len(names)} of the classes in {other}, such as {min(names)!r}"
            )


def _of_classes(split, folder, list_part):
    class_names = subfolders(folder)
    images, labels = gather([list_part(folder / name) for name in class_names])
    return ImageDataset("folder", split, class_names, _first_shape(images), images, labels)


def _first_shape(images):
    """The shape of the first image that can be read; where none can, each is named when it is asked for."""
    for index in range(len(images)):
        with contextlib.suppress(FileError):
            return images[index].shape
    return _USUAL_SHAPE


def _part_folder(split, data_dir):
    train = data_dir / "train"
    test = next((data_dir / name for name in ("test", "val") if subfolders(data_dir / name)), None)
    if test:
        check_same_classes(train, test)
    if split == "train":
        return train
    if test is None:
        raise _missing(data_dir)
    return test


def hashed_part(split, paths):
    """About a fifth of `paths` for the test part, the rest for the other; at least one for each.

    Raises:
        ValueError: there is one path alone.
    """
    if len(paths) < 2:
        raise InputError(
            f"{paths[0]} is the only image of its class: one to train and one to test are needed"
        )
    hashes = {path: _hash(os.path.basename(str(path))) for path in paths}
    in_test = sum(value < _TEST_FRACTION for value in hashes.values())
    in_test = min(max(in_test, 1), len(paths) - 1)
    ordered = sorted(paths, key=hashes.get)
    return sorted(ordered[:in_test] if split == "test" else ordered[in_test:], key=str)


def _hash(name):
    """A number from 0 to 1 that looks random."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) / 2**64


def _missing(data_dir):
    return missing(
        "A set of class folders",
        data_dir,
        "train/CLASS/*.jpg and test/CLASS/*.jpg (or val/CLASS/*.jpg), or CLASS/*.jpg alone",
        "images of your own, one folder a class",
    )
