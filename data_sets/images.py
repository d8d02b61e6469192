"""From a file or an array to pixels of the size and channels asked for."""

import contextlib
import io
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageOps

from data_sets.archives import ArchiveFile
from data_sets.pixel_formats import FORMATS, plain
from hsvit_runtime.errors import FileError, InputError

_MODES = {1: "L", 3: "RGB"}


class ImageFiles(Sequence):
    """Image files as a sequence of uint8 arrays (H, W, C), each decoded when it is asked for.

    C is 1 for grey files and 3 for all others.

    Args:
        paths: list of paths, of `data_sets.archives.ArchiveFile` or of files that are open.
    """

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return _pixels(_decode(self.paths[index]))

    def subset(self, positions):
        """The files at some positions."""
        return ImageFiles([self.paths[position] for position in positions])


def resized(images, index, image_shape):
    """One image at a given size, bilinear with antialiasing.

    An image file keeps its aspect: its shorter side is fitted and the centre cropped. An image of an
    array is stretched: all of a set have one shape, and what they show fills them.

    Args:
        images: uint8 array (N, H, W, C), or an `ImageFiles`.
        index: which of them.
        image_shape: (height, width, channels). Colour becomes grey for 1 channel, grey becomes colour
            for 3.

    Returns:
        uint8 array of shape `image_shape`.

    Raises:
        OSError: the file cannot be read as an image.
    """
    height, width, channels = image_shape
    if isinstance(images, ImageFiles):
        image = _decode(images.paths[index], least_side=2 * max(height, width))
        image = ImageOps.fit(image, (width, height), Image.Resampling.BILINEAR)
    else:
        pixels = images[index]
        image = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
        image = image.resize((width, height), Image.Resampling.BILINEAR)
    return _pixels(image.convert(_MODES[channels]))


def resized_mask(mask, size, keeps_aspect):
    """A mask at a given size, each pixel of which is its nearest neighbour's.

    Args:
        mask: int array (H, W).
        size: (height, width).
        keeps_aspect: bool, whether its image keeps its aspect, see `resized`.

    Returns:
        int32 array (height, width).
    """
    image = Image.fromarray(mask.astype(np.int32))
    if keeps_aspect:
        image = ImageOps.fit(image, size[::-1], Image.Resampling.NEAREST)
    else:
        image = image.resize(size[::-1], Image.Resampling.NEAREST)
    return np.asarray(image)


def check_image_shape(image_shape):
    """Returns `image_shape` as a tuple of ints.

    Raises:
        ValueError: it is not (height, width, 1 or 3) with positive sizes.
    """
    shape = tuple(int(size) for size in image_shape)
    if len(shape) != 3 or min(shape) < 1:
        raise InputError(f"image_shape={shape} must be (height, width, channels), all positive")
    if shape[2] not in _MODES:
        raise InputError(f"image_shape={shape}: images have 1 channel (grey) or 3 (RGB), not {shape[2]}")
    return shape


def _pixels(image):
    pixels = np.asarray(image)
    return pixels[..., np.newaxis] if pixels.ndim == 2 else pixels


def _decode(path, least_side=None):
    """The image in a file, upright, in mode L or RGB.

    A large JPEG can be decoded at a half, a quarter or an eighth of its size, which is much faster:
    `least_side` says how small its shorter side may become.
    """
    try:
        with _opened(path) as file, Image.open(file, formats=FORMATS) as image:
            if least_side:
                image.draft(None, (least_side, least_side))
            return plain(image)
    except Exception as error:  # decoders of damaged files raise nearly anything
        raise FileError(f"cannot read the image {path}: {error}") from error


def _opened(path):
    """An open file, for Pillow maps a TIFF that it opens by name into memory, and then turns it wrongly."""
    if isinstance(path, io.IOBase):
        return contextlib.nullcontext(path)
    return path.open() if isinstance(path, ArchiveFile) else open(path, "rb")
