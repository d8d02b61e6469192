"""Real images to change: parts of two photos, and digits."""

import numpy as np
from sklearn.datasets import load_sample_images

from data_sets import load_dataset


def photos():
    """Four parts of photos, uint8 (4, 90, 120, 3)."""
    first, second = load_sample_images().images
    parts = [image[top : top + 270 : 3, 40:400:3] for image in (first, second) for top in (0, 150)]
    return np.stack(parts)


def digits():
    """Four handwritten digits, uint8 (4, 32, 32, 1)."""
    return load_dataset("digits", "train").images[:4].repeat(4, axis=1).repeat(4, axis=2)
