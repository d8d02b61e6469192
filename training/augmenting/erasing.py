"""Random erasing (https://arxiv.org/abs/1708.04896): a rectangle of some images becomes noise."""

import numpy as np

from data_sets.checks import check_between, check_range
from hsvit_runtime.errors import InputError

_ATTEMPTS = 10


class RandomErasing:
    """Fills one rectangle of each image that chance chooses with normal noise, drawn for each value.

    Models normalize pixels in their first layer. Noise of `mean` and `std`, those of the recipe, is behind
    that layer what papers fill with: of mean 0 and deviation 1. It is not clipped to 0 and 255.

    Args:
        chance: float, the chance of an image to be changed.
        area: (low, high), the rectangle's share of the image, drawn evenly.
        aspect: (low, high), its height over its width, of which the logarithm is drawn evenly.
        mean: the noise's mean, 0 to 1 for black to white: a number or one for each channel.
        std: its standard deviation, likewise; 0 fills with the mean.

    Call arguments:
        data: dict of `Task.augmentable`; masks stay as they are.
        rng: `numpy.random.Generator`.

    Returns:
        A dict of the same keys and shapes.
    """

    def __init__(self, chance=0.25, area=(0.02, 1 / 3), aspect=(0.3, 1 / 0.3), mean=0.5, std=0.25):
        check_between(0, 1, chance=chance)
        check_range(0, 1, area=area)
        check_range(0, np.inf, aspect=aspect)
        for name, values in {"mean": mean, "std": std}.items():
            for value in np.ravel(values).tolist():
                check_between(0, 1, **{name: value})
        self._chance, self._area, self._log_aspect = chance, area, np.log(aspect)
        self._mean, self._std = (255 * np.asarray(values, np.float32) for values in (mean, std))

    def __call__(self, data, rng):
        images = np.array(data["images"], np.float32)
        channels = images.shape[-1]
        if any(values.size not in (1, channels) for values in (self._mean, self._std)):
            raise InputError(
                f"RandomErasing: mean and std need one number, or one for each of {channels} channels"
            )
        for index in np.flatnonzero(rng.random(len(images)) < self._chance):
            place = self.rectangle(images.shape[1:3], rng)
            hole = images[index][place]
            hole[...] = self._mean + self._std * rng.standard_normal(hole.shape, np.float32)
        return {**data, "images": images}

    def rectangle(self, size, rng):
        """Draws a rectangle that is smaller than the image; an empty one if none of ten is.

        Args:
            size: (height, width) of the image.
            rng: `numpy.random.Generator`.

        Returns:
            (slice of rows, slice of columns).
        """
        for _ in range(_ATTEMPTS):
            area = rng.uniform(*self._area) * size[0] * size[1]
            aspect = np.exp(rng.uniform(*self._log_aspect))
            sides = round(np.sqrt(area * aspect)), round(np.sqrt(area / aspect))
            if sides[0] < size[0] and sides[1] < size[1]:
                starts = [
                    rng.integers(whole - side, endpoint=True) for whole, side in zip(size, sides, strict=True)
                ]
                return tuple(slice(start, start + side) for start, side in zip(starts, sides, strict=True))
        return slice(0), slice(0)
