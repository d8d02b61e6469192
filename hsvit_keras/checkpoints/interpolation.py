"""Maps of weights at another size, computed as PyTorch's `interpolate` does with `align_corners=False`.

Nothing is smoothed where a map becomes smaller, as there without `antialias`.
"""

import numpy as np

from hsvit_runtime.errors import InputError

_A = -0.75  # PyTorch's coefficient of cubic convolution; TensorFlow has -0.5


def _bilinear(distance):
    return np.maximum(1 - distance, 0)


def _bicubic(distance):
    """Cubic convolution (Keys 1981)."""
    near = ((_A + 2) * distance - (_A + 3)) * distance**2 + 1
    far = _A * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


# The weight of a neighbour by its distance, and how many there are to each side.
_MODES = {"bicubic": (_bicubic, 2), "bilinear": (_bilinear, 1)}


def check_mode(name, mode):
    """Raises `InputError` unless a mode is known.

    Args:
        name: str, the argument.
        mode: str.
    """
    if mode not in _MODES:
        raise InputError(f"{name} has to be {' or '.join(map(repr, _MODES))}; received {name}={mode!r}")


def interpolate(maps, size, mode):
    """A map at another size.

    Args:
        maps: array (height, width, channels).
        size: (height, width).
        mode: `"bicubic"` or `"bilinear"`.

    Returns:
        float64 array (*size, channels).
    """
    down, across = (_shares(old, new, mode) for old, new in zip(maps.shape, size, strict=False))
    return np.einsum("ih,jw,hwc->ijc", down, across, maps)


def interpolate_offsets(table, old, new, mode):
    """A table of the distances of two pixels in rows and in columns, for another map.

    With its signs, a table of distances from -(n - 1) to n - 1 is a map with the distance 0 in its centre,
    and interpolated like one; so do the programs of Swin and of BEiT.

    Args:
        table: array (heads, height * width), the value of each distance without signs.
        old: (height, width) of the map that the table is for.
        new: (height, width).
        mode: `"bicubic"` or `"bilinear"`.

    Returns:
        float64 array (heads, new height * new width).
    """
    maps = np.reshape(table, (len(table), *old)).transpose(1, 2, 0)
    signed = np.pad(maps, ((old[0] - 1, 0), (old[1] - 1, 0), (0, 0)), "reflect")
    resized = interpolate(signed, [2 * side - 1 for side in new], mode)
    return resized[new[0] - 1 :, new[1] - 1 :].reshape(-1, len(table)).T


def _shares(old, new, mode):
    """(new, old): what each old pixel of a line gives to each new one; edges are repeated."""
    weight, reach = _MODES[mode]
    centres = (np.arange(new) + 0.5) * old / new - 0.5
    shares = np.zeros((new, old))
    for step in range(1 - reach, reach + 1):
        neighbours = np.floor(centres).astype(int) + step
        inside = np.clip(neighbours, 0, old - 1)
        np.add.at(shares, (np.arange(new), inside), weight(abs(centres - neighbours)))
    return shares
