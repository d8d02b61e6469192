"""Lists of videos as those of Kinetics, https://arxiv.org/abs/1705.06950.

A list is `train.csv` or `train.txt`, and `val` or `test` likewise. Its lines are either a path and the
number of a class, as the programs of TimeSformer and SlowFast read them; or, below a line of headings as in
the official lists of Kinetics, the name of a class, the id of a video on YouTube, and the seconds between
which it is cut.
"""

import csv
import pathlib

from data_sets.dataset import ImageDataset, as_labels
from data_sets.locating import missing
from data_sets.videos import VideoFiles
from hsvit_runtime.errors import FileError, InputError, MissingFileError

_CLIP_SHAPE = (8, 224, 224, 3)  # as TimeSformer takes them
_STRIDE = 32
_LISTS = {"train": ("train",), "test": ("test", "val", "validate", "validation")}
_SUFFIXES = (".csv", ".txt")
_OFFICIAL = ("label", "youtube_id", "time_start", "time_end")
_NAMES = "classes.txt"


def load(split, data_dir=None):
    """Opens the videos of a list; clips have 8 frames, one of 32.

    Args:
        split: "train" or "test", which is the list `test` or, where there is none, `val`.
        data_dir: path of the folder with the lists, from which paths in them start.

    Returns:
        An `ImageDataset` of `VideoFiles` for video classification. Of an official list it has the videos that
        are in the folder, since many are not on YouTube any more.

    Raises:
        FileNotFoundError: there is no list, or a video of it is not there.
        ValueError: a line of the list is wrong.
    """
    file = _list_of(split, data_dir)
    if file is None:
        raise missing(
            "A list of videos",
            data_dir,
            "train.csv and test.csv or val.csv (or .txt), of lines `path class-number` with paths from that "
            "folder, or the official lists of Kinetics beside its folders of videos",
            "https://github.com/cvdfoundation/kinetics-dataset",
        )
    rows = _rows(file)
    if rows and tuple(rows[0][1][:4]) == _OFFICIAL:
        names, paths, labels = _official(file, rows[1:], data_dir)
    else:
        names, paths, labels = _numbered(file, rows, data_dir)
    return ImageDataset(
        "kinetics", split, names, _CLIP_SHAPE, VideoFiles(paths, _CLIP_SHAPE[0], _STRIDE),
        as_labels(labels, len(names), file), "video_classification",
    )  # fmt: skip


def _list_of(split, data_dir):
    if data_dir is None:
        return None
    candidates = (data_dir / f"{name}{suffix}" for name in _LISTS[split] for suffix in _SUFFIXES)
    return next((file for file in candidates if file.is_file()), None)


def _rows(file):
    """Pairs of a line's number and its fields, which commas, tabs or spaces separate."""
    lines = file.read_text().splitlines()
    rows = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise InputError(f"{file} is empty")
    first = rows[0][1]
    separator = next((mark for mark in (",", "\t", " ") if mark in first), None)
    if separator is None:
        raise InputError(f"{file}, line {rows[0][0]}: expected a path and a class number; received {first!r}")
    return [(number, next(csv.reader([line], delimiter=separator))) for number, line in rows]


def _numbered(file, rows, data_dir):
    """Class names, paths and labels of a list of paths and numbers."""
    paths, labels = [], []
    for number, fields in rows:
        path, label = " ".join(fields[:-1]), fields[-1].strip()
        if not path or not label.isdecimal():
            raise InputError(
                f"{file}, line {number}: expected a path and a class number; received {' '.join(fields)!r}"
            )
        paths.append(str(data_dir / path))
        labels.append(int(label))
    lost = [path for path in paths if not pathlib.Path(path).is_file()]
    if lost:
        raise MissingFileError(f"{file} names {len(lost)} videos that are not there, such as {lost[0]}")
    return _names(file, paths, labels), paths, labels


def _names(file, paths, labels):
    """Names of the classes: those of classes.txt, else of the folders of their videos, else their numbers."""
    known = file.parent / _NAMES
    if known.is_file():
        return tuple(line.strip() for line in known.read_text().splitlines() if line.strip())
    folders = {}
    # Both lists together, so that training and test part agree on the classes.
    for other in filter(None, (_list_of(split, file.parent) for split in _LISTS)):
        for _, fields in _rows(other):
            if fields[-1].strip().isdecimal():
                folder = pathlib.Path(" ".join(fields[:-1])).parent.name
                folders.setdefault(int(fields[-1]), set()).add(folder)
    count = max([*folders, *labels]) + 1
    names = [folders.get(label, {""}) for label in range(count)]
    single = [next(iter(found)) for found in names if len(found) == 1]
    if len(single) == count and len(set(single)) == count and all(single):
        return tuple(single)
    return tuple(map(str, range(count)))


def _official(file, rows, data_dir):
    """Class names, paths and labels of one of Kinetics' own lists: those whose video is in the folder."""
    names = sorted({fields[0] for _, fields in rows})
    label_of = {name: label for label, name in enumerate(names)}
    paths, labels = [], []
    for number, fields in rows:
        name, video, start, end = (*fields, "", "", "", "")[:4]
        if not (start.isdecimal() and end.isdecimal()):
            raise InputError(
                f"{file}, line {number}: expected {', '.join(_OFFICIAL)}; received {', '.join(fields)!r}"
            )
        path = _video(data_dir, file.stem, name, f"{video}_{int(start):06}_{int(end):06}.mp4")
        if path is not None:
            paths.append(path)
            labels.append(label_of[name])
    if not paths:
        raise FileError(
            f"none of the {len(rows):,} videos of {file} is in {data_dir}: expected "
            f"ID_000010_000020.mp4 in it, or in its folders {file.stem}/CLASS, {file.stem} or CLASS"
        )
    return tuple(names), paths, labels


def _video(data_dir, part, name, file):
    """The path of a video; None where it is not there."""
    folders = (data_dir / part / name, data_dir / part, data_dir / name, data_dir)
    return next((str(folder / file) for folder in folders if (folder / file).is_file()), None)
