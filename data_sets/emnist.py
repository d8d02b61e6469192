"""EMNIST (Cohen, Afshar, Tapson and van Schaik, arXiv 1702.05373) from its official idx files.

Its six parts, of which each is a data set of its own, share the names of files but for one word. The files
have the columns of an image where its rows should be.
"""

import dataclasses
import functools
import string

from data_sets import idx
from data_sets.locating import find_folder

_DIGITS = tuple(string.digits)
# Letters that look alike in both cases are one class, named by the capital one.
_MERGED = (*string.digits, *string.ascii_uppercase, *"abdefghnqrt")

# Classes of each of the authors' splits in the order of their labels, which begin with 0, those of letters
# with 1.
_CLASS_NAMES = {
    "balanced": _MERGED,
    "byclass": (*string.digits, *string.ascii_uppercase, *string.ascii_lowercase),
    "bymerge": _MERGED,
    "digits": _DIGITS,
    "letters": tuple(string.ascii_uppercase),
    "mnist": _DIGITS,
}


def load(variant, split, data_dir=None):
    """Opens one of EMNIST's splits, 28x28 pixels, grey.

    Args:
        variant: "balanced" (112,800 images to train, 18,800 to test), "byclass" and "bymerge" (697,932 and
            116,323), "digits" (240,000 and 40,000), "letters" (124,800 and 20,800) or "mnist" (60,000 and
            10,000).
        split: "train" or "test".
        data_dir: path of the folder with the idx files, plain or .gz, or of the one with gzip.zip's
            folder gzip.

    Returns:
        An `ImageDataset`.

    Raises:
        FileNotFoundError: a file is not there.
        ValueError: a file is damaged.
    """
    prefix = f"emnist-{variant}-{split}"
    marker = f"{prefix}-images-idx3-ubyte.gz"
    dataset = idx.open_pair(
        f"emnist_{variant}",
        split,
        _CLASS_NAMES[variant],
        find_folder(data_dir, "gzip", marker) or data_dir,
        prefix,
        f"EMNIST {variant}",
        "NIST, The EMNIST Dataset, gzip.zip",
        first_label=1 if variant == "letters" else 0,
    )
    return dataclasses.replace(dataset, images=dataset.images.swapaxes(1, 2))


LOADERS = {f"emnist_{variant}": functools.partial(load, variant) for variant in _CLASS_NAMES}
