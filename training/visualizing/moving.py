"""Images that are shifted and rotated, and whether a model's feature maps move with them.

Rows C to E of Figure 4 of the HSViT paper (https://arxiv.org/abs/2404.05196).
"""

import numpy as np


def moved(images, map_shape):
    """The images shifted and rotated.

    Args:
        images: array `(count, height, width, channels)`.
        map_shape: (height, width) of the feature maps; images are shifted by whole pixels of these.

    Returns:
        dict from "shifted" and "rotated" to images: down and to the right by a quarter, with 0 where nothing
        comes from; and by a quarter turn, or half a turn where images are no squares.
    """
    steps = _steps(map_shape)
    scale = [side // length for side, length in zip(images.shape[1:3], map_shape, strict=True)]
    return {
        "shifted": _shifted(images, [step * size for step, size in zip(steps, scale, strict=True)]),
        "rotated": _rotated(images),
    }


def agreement(feature_maps, images):
    """How far maps move with their image.

    Args:
        feature_maps: function from images to maps `(count, height, width, kernels)`.
        images: array `(count, height, width, channels)`.

    Returns:
        dict from "shifted" and "rotated" to the mean correlation over kernels and images between the map of
        the moved image and the moved map of the image: 1 where the maps move with it.
    """
    maps = feature_maps(images)
    steps = _steps(maps.shape[1:3])
    inside = np.s_[:, steps[0] :, steps[1] :]  # what comes from within the image
    expected = {"shifted": _shifted(maps, steps)[inside], "rotated": _rotated(maps)}
    found = {name: feature_maps(changed) for name, changed in moved(images, maps.shape[1:3]).items()}
    found["shifted"] = found["shifted"][inside]
    return {name: _correlation(found[name], expected[name]) for name in expected}


def _steps(map_shape):
    return [max(1, side // 4) for side in map_shape]


def _shifted(maps, steps):
    down, right = steps
    result = np.zeros_like(maps)
    result[:, down:, right:] = maps[:, : maps.shape[1] - down, : maps.shape[2] - right]
    return result


def _rotated(maps):
    return np.rot90(maps, 1 if maps.shape[1] == maps.shape[2] else 2, axes=(1, 2)).copy()


def _correlation(maps, others):
    """The mean of Pearson's correlation of each map with the other one, of all that are not constant."""
    deviations = [x.astype(np.float64) - x.mean((1, 2), keepdims=True) for x in (maps, others)]
    product, *squares = ((a * b).sum((1, 2)) for a, b in (deviations, deviations[:1] * 2, deviations[1:] * 2))
    norm = np.sqrt(squares[0] * squares[1])
    varies = norm > 1e-9
    return float((product[varies] / norm[varies]).mean()) if varies.any() else float("nan")
