"""Makes JPEGs that are as hard to decode as photos, for machines that hold no photos."""

import numpy as np
from PIL import Image

_CLASSES = 10
_OCTAVES = 9
_QUALITY = 90


def write_photos(folder, count, size):
    """Writes class folders in two parts, as the set "folder" has them; that to test has one image a class.

    Args:
        folder: path of an empty folder.
        count: int, images to train.
        size: (width, height) of an image.

    Returns:
        int, bytes of a file on average.
    """
    rng = np.random.default_rng(0)
    places = [("train", number % _CLASSES, number) for number in range(count)]
    places += [("test", label, label) for label in range(min(count, _CLASSES))]
    written = 0
    for part, label, number in places:
        path = folder / part / f"class{label}" / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(_photo(rng, size)).save(path, quality=_QUALITY)
        written += path.stat().st_size
    return written // len(places)


def _photo(rng, size):
    """Noise whose strength falls with its frequency, as that of natural images does: uint8 (H, W, 3)."""
    width, height = size
    sum_of_octaves = np.zeros((height, width, 3), np.float32)
    for octave in range(_OCTAVES):
        cells = 2 ** (octave + 1)
        noise = rng.uniform(0, 255, (cells, cells, 3)).astype(np.uint8)
        enlarged = Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)
        sum_of_octaves += (np.asarray(enlarged, np.float32) - 127.5) / (octave + 1) ** 0.5
    return np.clip(127.5 + sum_of_octaves / 2, 0, 255).astype(np.uint8)
