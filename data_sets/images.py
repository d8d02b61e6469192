"""From a file or an array to pixels of the size and channels asked for."""

import contextlib
import io
import math
from collections.abc import Sequence

import numpy as np
from PIL import ExifTags, Image, UnidentifiedImageError

from data_sets.archives import ArchiveFile
from data_sets.crops import CENTRE
from data_sets.pixel_formats import FORMATS, channels_of, plain
from hsvit_runtime import input_files
from hsvit_runtime.errors import FileError, InputError

MODES = {1: "L", 3: "RGB"}  # Pillow's, by channels

# Orientations of EXIF from this one on exchange width and height.
_TURNED = 5

# Formats of JPEGs, with one picture or several.
_DECODED_SMALLER = ("JPEG", "MPO")

# A JPEG may be decoded smaller, as long as the part that is used stays this many times larger than needed.
_SPARE = 2


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

    def shape_of(self, index):
        """The (H, W, C) of one of them, which is not decoded."""
        with _opened(self.paths[index]) as image:
            is_turned = image.getexif().get(ExifTags.Base.Orientation, 1) >= _TURNED
            width, height = image.size[::-1] if is_turned else image.size
            return height, width, channels_of(image)

    def subset(self, positions):
        """The files at some positions."""
        return ImageFiles([self.paths[position] for position in positions])


def resized(images, index, image_shape, crop=CENTRE, rng=None):
    """One image at a given size, with antialiasing: the first of what `resized_part` gives."""
    return resized_part(images, index, image_shape, crop, rng)[0]


def resized_part(images, index, image_shape, crop=CENTRE, rng=None):
    """One image at a given size, with antialiasing, and which part of it that is.

    An image file keeps its aspect: its shorter side is fitted and the centre cropped. An image of an
    array is stretched: all of a set have one shape, and what they show fills them.

    Args:
        images: uint8 array (N, H, W, C), or an `ImageFiles`.
        index: which of them.
        image_shape: (height, width, channels). Colour becomes grey for 1 channel, grey becomes colour
            for 3.
        crop: a crop of `data_sets.crops`, bilinear and of the whole image by default.
        rng: `numpy.random.Generator` of a random crop.

    Returns:
        (uint8 array of shape `image_shape`; the part as (left, top, right, bottom), shares of the whole
        image, which a crop may reach beyond).

    Raises:
        OSError: the file cannot be read as an image.
    """
    height, width, channels = image_shape
    target = width, height
    if isinstance(images, ImageFiles):
        image, box = _decode_part(images.paths[index], crop, target, rng)
    else:
        pixels = images[index]
        image = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
        box = crop.box(image.size, target, keeps_aspect=False, rng=rng)
    part = tuple(place / side for place, side in zip(box, 2 * image.size, strict=True))
    return _pixels(crop.pixels(image, box, target).convert(MODES[channels])), part


def resized_mask(mask, size, keeps_aspect, crop=CENTRE):
    """A mask at a given size, each pixel of which is its nearest neighbour's.

    Args:
        mask: int array (H, W).
        size: (height, width).
        keeps_aspect: bool, whether its image keeps its aspect, see `resized`.
        crop: the crop of its image, which is not random.

    Returns:
        int32 array (height, width).
    """
    image, target = Image.fromarray(mask.astype(np.int32)), size[::-1]
    box = crop.box(image.size, target, keeps_aspect)
    return np.asarray(crop.pixels(image, box, target, Image.Resampling.NEAREST))


def check_image_shape(image_shape, of_clips=False):
    """Returns `image_shape` as a tuple of ints.

    Args:
        image_shape: sequence of numbers.
        of_clips: bool, whether it is that of clips.

    Raises:
        ValueError: it is not (height, width, 1 or 3) with positive sizes, of clips with their number of
            frames in front.
    """
    shape = tuple(int(size) for size in image_shape)
    axes = ("frames",) * of_clips + ("height", "width", "channels")
    if len(shape) != len(axes) or min(shape) < 1:
        raise InputError(f"image_shape={shape} must be ({', '.join(axes)}), all positive")
    if shape[-1] not in MODES:
        raise InputError(f"image_shape={shape}: images have 1 channel (grey) or 3 (RGB), not {shape[-1]}")
    return shape


def _pixels(image):
    pixels = np.asarray(image)
    return pixels[..., np.newaxis] if pixels.ndim == 2 else pixels


def _decode(path):
    """The image in a file, upright, in mode L or RGB."""
    with _opened(path) as image:
        return plain(image)


def _decode_part(path, crop, target, rng):
    """The image in a file as `_decode` gives it, perhaps smaller; and the box of a crop in it.

    A large JPEG can be decoded at a half, a quarter or an eighth of its size, which is much faster.
    """
    with _opened(path) as image:
        if image.format not in _DECODED_SMALLER:
            image = plain(image)
            return image, crop.box(image.size, target, rng=rng)
        is_turned = image.getexif().get(ExifTags.Base.Orientation, 1) >= _TURNED
        size = image.size[::-1] if is_turned else image.size
        box = crop.box(size, target, rng=rng)
        least = _SPARE * max(target[0] / (box[2] - box[0]), target[1] / (box[3] - box[1]))
        image.draft(None, tuple(math.ceil(least * side) for side in image.size))
        image = plain(image)
    scales = [now / was for now, was in zip(image.size, size, strict=True)]
    return image, tuple(place * scale for place, scale in zip(box, 2 * scales, strict=True))


@contextlib.contextmanager
def _opened(path):
    """Opens an image; raises an error that names the file, whatever its decoder raises."""
    try:
        with _file(path) as file, Image.open(file, formats=FORMATS) as image:
            yield image
    except Exception as error:  # decoders of damaged files raise nearly anything
        reason = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, UnidentifiedImageError):
            reason = "it is damaged, or of no known format"
        raise FileError(f"cannot read the image {path}: {reason}") from error


def _file(path):
    """An open file, for Pillow maps a TIFF that it opens by name into memory, and then turns it wrongly."""
    if isinstance(path, io.IOBase):
        return contextlib.nullcontext(path)
    if isinstance(path, ArchiveFile):
        return path.open()
    if reason := input_files.why_not(path, "picture"):
        raise FileError(reason)
    return open(path, "rb")
