"""Which part of an image becomes the pixels of a batch: the centre, what a model asks for, or a random part.

A crop chooses a box in the image as it is stored, so that a large JPEG need not be decoded at its full size,
and makes pixels of it in one step. Boxes are (left, top, right, bottom), sizes (width, height), in pixels.
"""

import math

from PIL import Image

from data_sets.checks import check_between, check_range, check_share
from data_sets.resampling import interpolation_named
from hsvit_runtime.errors import InputError

_ATTEMPTS = 10


class CentreCrop:
    """The centre of an image, as it is evaluated: resized to the target's size over `share`, then cut out.

    An image that keeps its aspect is resized so that the target is just covered, as by torchvision's
    `Resize(size / share)` and `CenterCrop(size)`; one that does not is stretched. With a share of 1 the
    centre is that of Pillow's `ImageOps.fit`, which the phone app takes, too: nothing is rounded to whole
    pixels.

    Args:
        share: float, more than 0 and at most 1: sides of the target over those of the resized image.
        interpolation: "nearest", "bilinear" or "bicubic"; made smaller, images are antialiased.
    """

    is_random = False

    def __init__(self, share=1.0, interpolation="bilinear"):
        check_share(share=share)
        self._share = share
        self._resample = interpolation_named(interpolation)

    def box(self, size, target, keeps_aspect=True, rng=None):
        """The part of an image, which is the same for each image of its size.

        Args:
            size: of the image.
            target: size of the pixels to make.
            keeps_aspect: bool.
            rng: unused.
        """
        if keeps_aspect and self._share == 1:
            return _fitted(size, target)
        # Sides are rounded down and places to the nearest pixel, as torchvision has it.
        resized = [math.floor(side / self._share) for side in target]
        if keeps_aspect:
            axis = max((0, 1), key=lambda axis: resized[axis] / size[axis])
            other = 1 - axis
            resized[other] = max(resized[other], resized[axis] * size[other] // size[axis])
        starts = [round((whole - side) / 2) for whole, side in zip(resized, target, strict=True)]
        ends = [start + side for start, side in zip(starts, target, strict=True)]
        return tuple(
            place * side / whole
            for places in (starts, ends)
            for place, side, whole in zip(places, size, resized, strict=True)
        )

    def pixels(self, image, box, target, resample=None):
        """Pillow's image of the target's size; `resample` is for masks."""
        resample = self._resample if resample is None else resample
        if box == (0, 0, *image.size):
            return image.resize(target, resample)
        # Rows before columns, as Pillow resizes the whole: values that bicubic interpolation overshoots by
        # are cut off in between, so that the order shows.
        left, top, right, bottom = box
        image = image.resize((target[0], image.height), resample, box=(left, 0, right, image.height))
        return image.resize(target, resample, box=(0, top, target[0], bottom))


class CropOfModel:
    """What a model of another library asks for: the image resized, and its centre cut out.

    Where the resized image is smaller than the target, black is put around it.

    Args:
        resizing: `hsvit_runtime.resizing.Resizing`.
    """

    is_random = False

    def __init__(self, resizing):
        self._resizing = resizing

    def box(self, size, target, keeps_aspect=True, rng=None):
        """The part of an image that is cut out, which may reach beyond its edges; see `CentreCrop.box`."""
        height, width = self._resizing.resized_sides(size[1], size[0])
        starts = (width - target[0]) // 2, (height - target[1]) // 2
        ends = [start + side for start, side in zip(starts, target, strict=True)]
        return tuple(
            place * side / whole
            for places in (starts, ends)
            for place, side, whole in zip(places, size, (width, height), strict=True)
        )

    def pixels(self, image, box, target, resample=None):
        """Pillow's image of the target's size; `resample` is for masks."""
        resample = Image.Resampling[self._resizing.filter.upper()] if resample is None else resample
        scales = [side / (end - start) for side, start, end in zip(target, box[:2], box[2:], strict=True)]
        size = tuple(round(side * scale) for side, scale in zip(image.size, scales, strict=True))
        left, top = (round(place * scale) for place, scale in zip(box[:2], scales, strict=True))
        image = image if size == image.size else image.resize(size, resample)
        return image.crop((left, top, left + target[0], top + target[1]))


class RandomResizedCrop:
    """A part of random area, aspect and place, resized, as torchvision and timm draw it.

    Args:
        area: (low, high), the part's share of the image, drawn evenly.
        aspect: (low, high), its width over its height, of which the logarithm is drawn evenly.
        interpolation: "nearest", "bilinear" or "bicubic"; made smaller, images are antialiased.
    """

    is_random = True

    def __init__(self, area=(0.08, 1.0), aspect=(3 / 4, 4 / 3), interpolation="bilinear"):
        check_range(0, 1, area=area)
        check_range(0, math.inf, aspect=aspect)
        self._area, self._aspect = tuple(area), tuple(aspect)
        self._resample = interpolation_named(interpolation)

    def box(self, size, target, keeps_aspect=True, rng=None):
        """Draws a part that lies in the image; if none of ten does, takes the largest one in the middle.

        Args:
            size: of the image.
            target: unused; like `keeps_aspect`: a part is stretched to the target.
            rng: `numpy.random.Generator`.
        """
        for _ in range(_ATTEMPTS):
            area = rng.uniform(*self._area) * size[0] * size[1]
            aspect = math.exp(rng.uniform(*map(math.log, self._aspect)))
            part = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < part[0] <= size[0] and 0 < part[1] <= size[1]:
                left, top = (
                    int(rng.integers(whole - side, endpoint=True))
                    for whole, side in zip(size, part, strict=True)
                )
                return left, top, left + part[0], top + part[1]
        return self._middle(size)

    def _middle(self, size):
        aspect = min(max(size[0] / size[1], self._aspect[0]), self._aspect[1])
        width, height = min(size[0], round(size[1] * aspect)), min(size[1], round(size[0] / aspect))
        left, top = (size[0] - width) // 2, (size[1] - height) // 2
        return left, top, left + width, top + height

    def pixels(self, image, box, target):
        """Pillow's image of the target's size, in which nothing beside the part shows."""
        return _cut_out(image, box, target, self._resample)


class RandomPartOrWhole:
    """The whole image or a random part of it, stretched to the target, as DETR learns detection.

    DETR (https://arxiv.org/abs/2005.12872, section 4) resizes the image so that its shorter side is one of
    some, and cuts out a part whose sides are drawn evenly; its whole images are of several scales, with black
    to the right and below where a batch has larger ones.

    Args:
        chance: float, how often it is a part.
        shorter_sides: sequence of int, of the resized image.
        part_sides: (least, most) of the part.
        scales: (low, high), at most 1: sides of the whole image over those of the target, drawn evenly.
        interpolation: "nearest", "bilinear" or "bicubic"; made smaller, images are antialiased.
    """

    is_random = True

    def __init__(
        self,
        chance=0.5,
        shorter_sides=(400, 500, 600),
        part_sides=(384, 600),
        scales=(1.0, 1.0),
        interpolation="bilinear",
    ):
        check_between(0, 1, chance=chance)
        check_range(0, 1, scales=scales)
        check_range(0, math.inf, part_sides=part_sides)
        if not shorter_sides or part_sides[0] > min(shorter_sides):
            raise InputError(
                "shorter_sides have to be at least the least of part_sides; received "
                f"shorter_sides={shorter_sides!r}, part_sides={part_sides!r}"
            )
        self._chance, self._scales = chance, tuple(scales)
        self._shorter_sides, self._part_sides = tuple(shorter_sides), tuple(part_sides)
        self._resample = interpolation_named(interpolation)

    def box(self, size, target, keeps_aspect=True, rng=None):
        """Draws the part of an image; that of a scale below 1 reaches beyond its edges.

        Args:
            size: of the image.
            target: unused, like `keeps_aspect`: a part is stretched to the target.
            rng: `numpy.random.Generator`.
        """
        if rng.random() >= self._chance:
            scale = rng.uniform(*self._scales)
            return 0, 0, size[0] / scale, size[1] / scale
        least, most = self._part_sides
        ratio = min(size) / rng.choice(self._shorter_sides)
        sides = [rng.uniform(least, min(side / ratio, most)) * ratio for side in size]
        left, top = (rng.uniform(0, whole - side) for whole, side in zip(size, sides, strict=True))
        return left, top, left + sides[0], top + sides[1]

    def pixels(self, image, box, target):
        """Pillow's image of the target's size, in which nothing beside the part shows."""
        return _cut_out(image, box, target, self._resample)


class RandomShorterSide:
    """A part at a random place of an image whose shorter side was resized to a random length.

    So are frames of videos cut out by the programs of SlowFast and TimeSformer.

    Args:
        sides: (low, high), the length of the shorter side in pixels of the target, drawn evenly.
        interpolation: "nearest", "bilinear" or "bicubic"; made smaller, images are antialiased.
    """

    is_random = True

    def __init__(self, sides=(256, 320), interpolation="bilinear"):
        check_range(0, math.inf, sides=sides)
        self._sides = tuple(sides)
        self._resample = interpolation_named(interpolation)

    def box(self, size, target, keeps_aspect=True, rng=None):
        """Draws a part of the target's aspect; the whole where the drawn length is less than the target's.

        Args:
            size: of the image.
            target: size of the pixels to make.
            keeps_aspect: unused.
            rng: `numpy.random.Generator`.
        """
        scale = min(size) / rng.uniform(*self._sides)
        scale = min(scale, *(whole / side for whole, side in zip(size, target, strict=True)))
        part = [scale * side for side in target]
        left, top = (rng.uniform(0, whole - side) for whole, side in zip(size, part, strict=True))
        return left, top, left + part[0], top + part[1]

    def pixels(self, image, box, target):
        """Pillow's image of the target's size, in which nothing beside the part shows."""
        return _cut_out(image, box, target, self._resample)


def _cut_out(image, box, target, resample):
    """A part of an image at the target's size, in which nothing beside the part shows."""
    left, top = (math.floor(place) for place in box[:2])
    right, bottom = (math.ceil(place) for place in box[2:])
    inner = box[0] - left, box[1] - top, box[2] - left, box[3] - top
    return image.crop((left, top, right, bottom)).resize(target, resample, box=inner)


def _fitted(size, target):
    """The largest box in the middle of an image that has the target's aspect."""
    width, height = size
    if width * target[1] > height * target[0]:
        width = height * target[0] / target[1]
    else:
        height = width * target[1] / target[0]
    left, top = (size[0] - width) / 2, (size[1] - height) / 2
    return left, top, left + width, top + height


CENTRE = CentreCrop()


def crop_of(resizing):
    """The crop that a model asks for; the centre for None."""
    return CENTRE if resizing is None else CropOfModel(resizing)
