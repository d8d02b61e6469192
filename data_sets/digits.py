"""The 1,797 handwritten digits that come with scikit-learn: real images without any download."""

import numpy as np

from data_sets.dataset import ImageDataset


def load(split, data_dir=None):
    """Opens the digits, 8x8 pixels, grey.

    The parts are fixed by counting: every fifth image of each digit, in scikit-learn's order, is in
    the test part.

    Args:
        split: "train" (1,442 images) or "test" (355 images).
        data_dir: not needed.

    Returns:
        An `ImageDataset`.
    """
    from sklearn.datasets import load_digits  # imports SciPy, which takes a second

    digits = load_digits()
    in_test = np.zeros(len(digits.target), bool)
    for digit in range(10):
        in_test[np.flatnonzero(digits.target == digit)[4::5]] = True
    chosen = in_test if split == "test" else ~in_test
    pixels = np.round(digits.images[chosen] * (255 / 16)).astype(np.uint8)
    labels = digits.target[chosen].astype(np.int32)
    return ImageDataset("digits", split, tuple("0123456789"), (8, 8, 1), pixels[..., np.newaxis], labels)
