"""Mirror images, of bytes in place of the floats that Keras' layer computes with: a tenth of its time."""

import numpy as np

from hsvit_runtime.errors import InputError

_AXES = {"horizontal": (2,), "vertical": (1,), "horizontal_and_vertical": (2, 1)}
_KEYS = ("images", "segmentation_masks", "box_labels")
# The columns of a box's center, in the order of the images' axes.
_CENTERS = {1: 2, 2: 1}


class RandomFlip:
    """Mirrors each image with a chance of one half, along each axis by itself.

    Args:
        mode: "horizontal", "vertical" or "horizontal_and_vertical", as for the layer of Keras.

    Call arguments:
        data: dict of `Task.augmentable`; masks and boxes are mirrored with their images.
        rng: `numpy.random.Generator`.

    Returns:
        A dict of the same keys, shapes and dtypes.
    """

    def __init__(self, mode="horizontal_and_vertical"):
        if mode not in _AXES:
            raise InputError(f"mode has to be one of {', '.join(_AXES)}; received {mode!r}")
        self._axes = _AXES[mode]

    def __call__(self, data, rng):
        changed = {key: np.array(data[key]) for key in _KEYS if key in data}
        for axis in self._axes:
            chosen = rng.random(len(changed["images"])) < 0.5
            for key, values in changed.items():
                if key == "box_labels":
                    values[chosen, :, _CENTERS[axis]] = 1 - values[chosen, :, _CENTERS[axis]]
                else:
                    values[chosen] = np.flip(values[chosen], axis)
        return {**data, **changed}
