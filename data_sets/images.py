"""From a file or an array to pixels of the size and channels asked for."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageOps

from hsvit_runtime.errors import FileError, InputError

_MODES = {1: "L", 3: "RGB"}


class ImageFiles(Sequence):
    """Image files as a sequence of uint8 arrays (H, W, C), each decoded when it is asked for.

    C is 1 for grey files and 3 for all others.

    Args:
        paths: list of paths.
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


def resized(images, index, image_shape, resizing=None):
    """One image at a given size, bilinear with antialiasing where nothing else is asked for.

    An image file keeps its aspect: its shorter side is fitted and the centre cropped. An image of an
    array is stretched: all of a set have one shape, and what they show fills them.

    Args:
        images: uint8 array (N, H, W, C), or an `ImageFiles`.
        index: which of them.
        image_shape: (height, width, channels). Colour becomes grey for 1 channel, grey becomes colour
            for 3.
        resizing: `hsvit_runtime.resizing.Resizing` that a model asks for, in place of both.

    Returns:
        uint8 array of shape `image_shape`.

    Raises:
        OSError: the file cannot be read as an image.
    """
    height, width, channels = image_shape
    is_file = isinstance(images, ImageFiles)
    if is_file:
        least = resizing.resized_sides(height, width) if resizing else (height, width)
        is_cut_alone = resizing is not None and resizing.size is None
        image = _decode(images.paths[index], least_side=None if is_cut_alone else 2 * max(least))
    else:
        pixels = images[index]
        image = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
    image = _fitted(image, (width, height), is_file, resizing, Image.Resampling.BILINEAR)
    return _pixels(image.convert(_MODES[channels]))


def resized_mask(mask, size, keeps_aspect, resizing=None):
    """A mask at a given size, each pixel of which is its nearest neighbour's.

    Args:
        mask: int array (H, W).
        size: (height, width).
        keeps_aspect: bool, whether its image keeps its aspect, see `resized`.
        resizing: that of its image.

    Returns:
        int32 array (height, width).
    """
    image = Image.fromarray(mask.astype(np.int32))
    if resizing is not None:
        resizing = dataclasses.replace(resizing, filter="nearest")
    return np.asarray(_fitted(image, size[::-1], keeps_aspect, resizing, Image.Resampling.NEAREST))


def _fitted(image, size, keeps_aspect, resizing, resample):
    """A Pillow image at a size (width, height): as `resizing` says, or by a filter of Pillow."""
    if resizing is not None:
        return _as_asked(image, size, resizing)
    if keeps_aspect:
        return ImageOps.fit(image, size, resample)
    return image.resize(size, resample)


def _as_asked(image, size, resizing):
    """The centre of the resized image; cutting beyond an edge gives black."""
    height, width = resizing.resized_sides(image.height, image.width)
    if (width, height) != image.size:
        image = image.resize((width, height), Image.Resampling[resizing.filter.upper()])
    left, top = (width - size[0]) // 2, (height - size[1]) // 2
    return image.crop((left, top, left + size[0], top + size[1]))


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
        with Image.open(path) as image:
            if least_side:
                image.draft(None, (least_side, least_side))
            return _plain(ImageOps.exif_transpose(image))
    except Exception as error:  # decoders of damaged files raise nearly anything
        raise FileError(f"cannot read the image {path}: {error}") from error


def _plain(image):
    """Converts to 8 bits, grey or RGB; what is transparent becomes white."""
    if image.mode.startswith("I"):  # 16 bits of grey, which `convert` would clip
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if image.mode == "F":
        raise InputError("floating-point pixels have no known range, expected 8 or 16 bits")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("L" if image.mode in ("1", "L") else "RGB")
