"""ImageNet (ILSVRC 2012) from its official folders.

The labelled validation images are the test part: in class folders, or flat with their classes in
Kaggle's LOC_val_solution.csv or in the development kit.
"""

import csv
import pathlib

import numpy as np

from data_sets import class_folders, synsets
from data_sets.dataset import ImageDataset
from data_sets.folders import subfolders
from data_sets.images import ImageFiles
from data_sets.locating import find_folder, missing
from hsvit_runtime.errors import InputError

_KAGGLE_FOLDER = "ILSVRC/Data/CLS-LOC"
_KAGGLE_SOLUTION = "LOC_val_solution.csv"
_KAGGLE_WORDS = "LOC_synset_mapping.txt"
_KIT_FOLDER = "ILSVRC2012_devkit_t12/data"
_KIT_TRUTH = "ILSVRC2012_validation_ground_truth.txt"
_KIT_META = "meta.mat"


def load(split, data_dir=None):
    """Opens ImageNet: RGB photos of many sizes, 1,000 classes sorted by id.

    Args:
        split: "train" (1,281,167 images) or "test" (50,000 images).
        data_dir: path of the folder with train/ID/*.JPEG and val/, or with Kaggle's ILSVRC folder.

    Returns:
        An `ImageDataset`.

    Raises:
        FileNotFoundError: the set is not there, or nothing tells the classes of flat validation images.
        ValueError: a class folder is empty, the parts have different classes, or a label is unknown.
    """
    root = find_folder(data_dir, _KAGGLE_FOLDER, "train" if split == "train" else "val")
    if root is None:
        raise _missing(data_dir)
    train, val = root / "train", root / "val"
    if subfolders(train) and subfolders(val):
        class_folders.check_same_classes(train, val)
    folder = train if split == "train" else val
    if subfolders(folder):
        ids = subfolders(folder)
        images, labels = class_folders.gather([class_folders.list_images(folder / one) for one in ids])
    else:
        ids, images, labels = _flat_images(folder, subfolders(train), data_dir)
    names = synsets.class_names(ids, _read_words(data_dir))
    return ImageDataset("imagenet", split, names, (224, 224, 3), images, labels)


def _flat_images(folder, train_ids, data_dir):
    source, id_of = _read_validation_ids(data_dir)
    ids = train_ids or tuple(sorted(set(id_of.values())))
    label_of = {one: label for label, one in enumerate(ids)}
    paths = class_folders.list_images(folder)
    labels = []
    for path in paths:
        one = id_of.get(pathlib.Path(path).stem)
        if one not in label_of:
            raise InputError(
                f"{source} gives {path} the class {one}, which is not one of the {len(ids)} known"
            )
        labels.append(label_of[one])
    return ids, ImageFiles(paths), np.array(labels, np.int32)


def _read_validation_ids(data_dir):
    """The file that tells the classes of the validation images, and {image name: id} from it."""
    solution = data_dir / _KAGGLE_SOLUTION
    if solution.is_file():
        with solution.open(newline="") as file:
            rows = list(csv.reader(file))[1:]
        return solution, {name: boxes.split()[0] for name, boxes in rows}
    kit = find_folder(data_dir, _KIT_FOLDER, _KIT_TRUTH)
    if kit is None:
        raise _missing(data_dir)
    id_of_number = {number: one for number, one, _ in _read_meta(kit)}
    numbers = [int(line) for line in (kit / _KIT_TRUTH).read_text().split()]
    ids = {f"ILSVRC2012_val_{i:08d}": id_of_number.get(number) for i, number in enumerate(numbers, start=1)}
    return kit / _KIT_TRUTH, ids


def _read_words(data_dir):
    """{id: words}; empty where no file tells them."""
    if (data_dir / _KAGGLE_WORDS).is_file():
        return synsets.read_words(data_dir / _KAGGLE_WORDS, " ")
    kit = find_folder(data_dir, _KIT_FOLDER, _KIT_META)
    return {one: words for _, one, words in _read_meta(kit)} if kit else {}


def _read_meta(kit):
    """The development kit's synsets: (number, id, words) each."""
    from scipy.io import loadmat  # takes a second

    table = loadmat(kit / _KIT_META, squeeze_me=True)["synsets"]
    return [(int(row["ILSVRC2012_ID"]), str(row["WNID"]), str(row["words"])) for row in table]


def _missing(data_dir):
    return missing(
        "ImageNet",
        data_dir,
        f"train/ID/*.JPEG and val/ID/*.JPEG, or flat val/*.JPEG with {_KAGGLE_SOLUTION} "
        f"or {_KIT_FOLDER}/{_KIT_TRUTH} and {_KIT_META} (from Kaggle, the folder that holds ILSVRC)",
        "image-net.org, ILSVRC 2012, or Kaggle's ImageNet Object Localization Challenge",
    )
