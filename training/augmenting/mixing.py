"""Batches in which each image is mixed with another one: by MixUp or by CutMix, as chance decides.

References:
- mixup (https://arxiv.org/abs/1710.09412)
- CutMix (https://arxiv.org/abs/1905.04899)
"""

import numpy as np

from data_sets.checks import check_between

_LEAST_ALPHA, _LARGEST_ALPHA = 1e-3, 1e3


class MixUpOrCutMix:
    """Mixes all images of a batch in one way, as torchvision and timm do.

    The share of an image in its mixture, which is that of its label, is drawn once for each batch from
    Beta(alpha, alpha); CutMix corrects it to the share of pixels that the rectangle leaves. Each image is
    mixed with its neighbour in the batch, whose order is random.

    Args:
        mixup_alpha: float, of the share in MixUp.
        cutmix_alpha: float, of the share in CutMix.
        cutmix_chance: float, the chance of a batch to be mixed by CutMix; else it is by MixUp.

    Call arguments:
        data: dict of `Task.augmentable` with `labels`, the probabilities of the classes.
        rng: `numpy.random.Generator`.

    Returns:
        A dict of the same keys and shapes.
    """

    def __init__(self, mixup_alpha=1.0, cutmix_alpha=1.0, cutmix_chance=0.5):
        check_between(_LEAST_ALPHA, _LARGEST_ALPHA, mixup_alpha=mixup_alpha, cutmix_alpha=cutmix_alpha)
        check_between(0, 1, cutmix_chance=cutmix_chance)
        self._mixup_alpha, self._cutmix_alpha = mixup_alpha, cutmix_alpha
        self._cutmix_chance = cutmix_chance

    def __call__(self, data, rng):
        mix = self._cut_mix if rng.random() < self._cutmix_chance else self._mix_up
        images, share = mix(np.asarray(data["images"], np.float32), rng)
        labels = np.asarray(data["labels"])
        labels = np.float32(share) * labels + np.float32(1 - share) * np.roll(labels, 1, axis=0)
        return {**data, "images": images, "labels": labels}

    @staticmethod
    def partners(rows, batch):
        """The places of the images that those at `rows` are mixed with."""
        return (rows - 1) % batch

    def _mix_up(self, images, rng):
        share = rng.beta(self._mixup_alpha, self._mixup_alpha)
        return np.float32(share) * images + np.float32(1 - share) * np.roll(images, 1, axis=0), share

    def _cut_mix(self, images, rng):
        images, size = images.copy(), images.shape[1:3]
        place = cut_rectangle(size, rng.beta(self._cutmix_alpha, self._cutmix_alpha), rng)
        hole = images[:, place[0], place[1]]
        share = 1 - hole[0, ..., 0].size / (size[0] * size[1])
        hole[...] = np.roll(hole, 1, axis=0)
        return images, share


def cut_rectangle(size, share, rng):
    """A rectangle of the image's aspect around a random pixel, of which the image cuts off what is outside.

    Args:
        size: (height, width) of the image.
        share: float, of the image that a rectangle in the middle leaves.
        rng: `numpy.random.Generator`.

    Returns:
        (slice of rows, slice of columns).
    """
    centres = [rng.integers(side) for side in size]
    halves = [int(np.sqrt(1 - share) * side / 2) for side in size]
    return tuple(
        slice(max(centre - half, 0), min(centre + half, side))
        for centre, half, side in zip(centres, halves, size, strict=True)
    )
