"""COCO 2017 (https://arxiv.org/abs/1405.0312), boxes of 80 classes, and any set in its format.

    DIR/annotations/instances_train2017.json, DIR/annotations/instances_val2017.json
    DIR/train2017/*.jpg, DIR/val2017/*.jpg

Images without boxes stay, and so do crowds, which are neither learned nor counted as missed. The test part is
val2017, since the labels of the official one are not public.
"""

import numpy as np

from data_sets.dataset import ImageDataset
from data_sets.folders import file_names
from data_sets.images import ImageFiles
from data_sets.locating import find_folder, missing
from hsvit_runtime import box_labels, input_files, json_files
from hsvit_runtime.errors import InputError, MissingFileError

_PARTS = {"train": "train2017", "test": "val2017"}
_MOST_BYTES = 4 * 2**30  # of annotations; COCO's own have 470 MB
_USUAL_SHAPE = (640, 640, 3)


def load(split, data_dir=None):
    """Opens COCO's boxes.

    Args:
        split: "train" (train2017, 118,287 images) or "test" (val2017, 5,000 images).
        data_dir: path of the folder with annotations and images, or of the one that holds it as `coco`.

    Returns:
        An `ImageDataset` for detection; classes in the order of their ids in COCO.

    Raises:
        FileNotFoundError: there is no such folder, or images in the annotations are not there.
        ValueError: the annotations are damaged.
    """
    part = _PARTS[split]
    annotations = f"annotations/instances_{part}.json"
    folder = find_folder(data_dir, "coco", annotations)
    if folder is None or not (folder / part).is_dir():
        raise missing("COCO", data_dir, f"{annotations} and {part}/*.jpg", "https://cocodataset.org")
    file = folder / annotations
    content = json_files.parse(input_files.read(file, most=_MOST_BYTES), file)
    try:
        class_names, names, rows = _read(content)
    except KeyError as error:
        raise InputError(
            f"{file} is no annotation file of COCO's instances: there is no {error.args[0]!r}"
        ) from error
    except (ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise InputError(f"{file} is no annotation file of COCO's instances: {error}") from error
    _check_images(folder / part, names, file)
    images = ImageFiles([str(folder / part / name) for name in names])
    labels = box_labels.padded(rows)
    return ImageDataset("coco", split, class_names, _USUAL_SHAPE, images, labels, "detection")


def _read(content):
    """(names of the classes, file names of the images, labels of each image)."""
    categories = sorted(content["categories"], key=lambda category: category["id"])
    numbers = {category["id"]: number for number, category in enumerate(categories)}
    images = sorted(content["images"], key=lambda image: image["id"])
    rows = {image["id"]: [] for image in images}
    sizes = {image["id"]: (image["width"], image["height"]) for image in images}
    for annotation in content["annotations"]:
        image, (left, top, width, height) = annotation["image_id"], annotation["bbox"]
        row = box_labels.row(
            numbers[annotation["category_id"]],
            (left, top, left + width, top + height),
            sizes[image],
            is_crowd=annotation.get("iscrowd", 0),
        )
        if row is not None:
            rows[image].append(row)
    class_names = tuple(str(category["name"]) for category in categories)
    labels = [np.reshape(rows[image["id"]], (-1, box_labels.COLUMNS)) for image in images]
    return class_names, [image["file_name"] for image in images], labels


def _check_images(folder, names, file):
    if absent := set(names) - set(file_names(folder)):
        raise MissingFileError(
            f"{folder} lacks {len(absent):,} of the {len(names):,} images in {file}, such as {min(absent)}"
        )
