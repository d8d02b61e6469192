"""Food-101 (Bossard, Guillaumin and Van Gool, ECCV 2014) from its official archive, extracted."""

import numpy as np

from data_sets.dataset import ImageDataset
from data_sets.images import ImageFiles
from data_sets.locating import find_folder, missing
from hsvit_runtime.errors import InputError


def load(split, data_dir=None):
    """Opens Food-101: RGB photos of up to 512 pixels a side.

    Args:
        split: "train" (75,750 images) or "test" (25,250 images).
        data_dir: path of the folder with food-101, or that folder itself.

    Returns:
        An `ImageDataset`.

    Raises:
        FileNotFoundError: the set is not there.
        ValueError: a list names a class that does not exist.
    """
    root = find_folder(data_dir, "food-101", "meta/classes.txt")
    if root is None:
        raise missing(
            "Food-101",
            data_dir,
            "food-101, extracted from food-101.tar.gz, with images/CLASS/*.jpg, meta/classes.txt, "
            "meta/train.txt and meta/test.txt",
            "ETH Zurich, Computer Vision Lab, data set Food-101",
        )
    class_names = tuple((root / "meta/classes.txt").read_text().split())
    label_of = {name: label for label, name in enumerate(class_names)}
    part = root / "meta" / f"{split}.txt"
    paths, labels = [], []
    for image in part.read_text().split():
        name = image.partition("/")[0]
        if name not in label_of:
            raise InputError(f"{part}: the class {name!r} of {image} is not in classes.txt")
        paths.append(str(root / "images" / f"{image}.jpg"))
        labels.append(label_of[name])
    return ImageDataset(
        "food101", split, class_names, (224, 224, 3), ImageFiles(paths), np.array(labels, np.int32)
    )
