"""Pascal VOC (http://host.robots.ox.ac.uk/pascal/VOC), and any folder in its format.

    DIR/JPEGImages/NAME.jpg, DIR/Annotations/NAME.xml, DIR/ImageSets/Main/{train,val,trainval,test}.txt

The parts are those of ImageSets: trainval and test, or train and val where there is no test; without these
files a hash of each name decides. Objects marked as difficult are neither learned nor counted as missed.
"""

import xml.etree.ElementTree

import numpy as np
from PIL import Image

from data_sets.class_folders import hashed_part, is_image
from data_sets.dataset import ImageDataset
from data_sets.folders import file_names
from data_sets.images import ImageFiles
from data_sets.locating import find_folder, missing
from hsvit_runtime import box_labels, input_files, text_lists
from hsvit_runtime.errors import FileError, InputError, MissingFileError

# The official classes; a set with others has the names that occur, sorted.
CLASS_NAMES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train"),
    "tvmonitor",
)
_USUAL_SHAPE = (320, 320, 3)


def load(split, data_dir=None):
    """Opens a folder in Pascal's format.

    Args:
        split: "train" or "test".
        data_dir: path of the folder with Annotations and JPEGImages.

    Returns:
        An `ImageDataset` for detection.

    Raises:
        FileNotFoundError: there is no such folder, or an image or its annotation is not there.
        ValueError: an annotation is damaged.
    """
    folders = (find_folder(data_dir, name, "Annotations") for name in ("VOC2012", "VOC2007"))
    folder = next(filter(None, folders), None)
    if folder is None or not (folder / "JPEGImages").is_dir():
        raise missing(
            "A set in Pascal's format", data_dir, "Annotations/*.xml and JPEGImages/*.jpg",
            "http://host.robots.ox.ac.uk/pascal/VOC, or images of your own",
        )  # fmt: skip
    files = {name.rpartition(".")[0]: name for name in file_names(folder / "JPEGImages") if is_image(name)}
    objects = {part: _read(folder, _names(folder, part, files), files) for part in ("train", "test")}
    class_names = _class_names(objects)
    images, rows = [], []
    for name, (size, of_image) in objects[split].items():
        images.append(str(folder / "JPEGImages" / files[name]))
        found = [
            box_labels.row(class_names.index(one), corners, size, is_difficult)
            for one, corners, is_difficult in of_image
        ]
        rows.append(np.reshape([row for row in found if row is not None], (-1, box_labels.COLUMNS)))
    labels = box_labels.padded(rows)
    return ImageDataset("voc", split, class_names, _USUAL_SHAPE, ImageFiles(images), labels, "detection")


def _names(folder, split, files):
    """The names of the images of a part, without their endings."""
    lists = {path.stem: path for path in (folder / "ImageSets" / "Main").glob("*.txt")}
    wanted = {"train": ("trainval", "train"), "test": ("test",)}
    if "test" not in lists:
        wanted = {"train": ("train",), "test": ("val",)}
    found = next((lists[name] for name in wanted[split] if name in lists), None)
    if found is not None:
        return [line.split()[0] for line in text_lists.read(found) if line.strip()]
    if lists.keys() & {"train", "val", "trainval", "test"}:
        raise MissingFileError(f"{folder}/ImageSets/Main has no {' or '.join(wanted[split])}.txt")
    if len(files) < 2:
        raise InputError(f"{folder}/JPEGImages has to hold one image to train and one to test at least")
    return hashed_part(split, sorted(files))


def _read(folder, names, files):
    """dict from an image's name to its (width, height) and its objects (class, corners, is difficult)."""
    found = {}
    for name in names:
        file = folder / "Annotations" / f"{name}.xml"
        if name not in files or not file.is_file():
            raise MissingFileError(
                f"{folder} lacks JPEGImages/{name}.jpg" if file.is_file() else f"{file} is not there"
            )
        try:
            root = xml.etree.ElementTree.parse(file).getroot()
            size = _size(root, folder / "JPEGImages" / files[name])
            found[name] = size, [_object(each) for each in root.iter("object")]
        except (xml.etree.ElementTree.ParseError, AttributeError, TypeError, ValueError) as error:
            raise InputError(f"{file} is no annotation in Pascal's format: {error!r}") from error
    return found


def _object(element):
    box = element.find("bndbox")
    left, top, right, bottom = (float(box.find(name).text) for name in ("xmin", "ymin", "xmax", "ymax"))
    # Pixels are counted from 1, and the last ones are in the box.
    return element.find("name").text.strip(), (left - 1, top - 1, right, bottom), _flag(element, "difficult")


def _size(root, image):
    """(width, height) as the annotation says, else as the image has."""
    sides = [root.find(f"size/{name}") for name in ("width", "height")]
    if all(side is not None and int(side.text) > 0 for side in sides):
        return tuple(int(side.text) for side in sides)
    input_files.check(image, "picture")
    try:
        with Image.open(image) as opened:
            return opened.size
    except OSError as error:
        raise FileError(f"cannot read the image {image}: {error}") from error


def _flag(element, name):
    found = element.find(name)
    return found is not None and found.text.strip() == "1"


def _class_names(objects):
    names = {one for part in objects.values() for _, of_image in part.values() for one, *_ in of_image}
    return CLASS_NAMES if names <= set(CLASS_NAMES) else tuple(sorted(names))
