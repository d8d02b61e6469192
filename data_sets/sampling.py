"""Parts of a data set in which its classes have the shares that they have in the whole, or equal ones."""

import numpy as np

from hsvit_runtime import box_labels
from hsvit_runtime.errors import InputError


def classes_in(labels):
    """Which classes each element holds, up to the last one that occurs.

    Args:
        labels: int array (N,), masks (N, H, W), or boxes (N, boxes, 6).

    Returns:
        bool array (N, classes).
    """
    classes = box_labels.classes(labels) if box_labels.are_boxes(labels) else labels
    flat = classes.reshape(len(classes), -1)
    # Padding, a class of -1, falls into a last column, which is cut off.
    present = np.zeros((len(flat), flat.max() + 2), bool)
    present[np.arange(len(flat))[:, np.newaxis], flat] = True
    return present[:, :-1]


def strata(labels):
    """A number for each element, the same where the labels hold the same classes.

    Args:
        labels: int array (N,), masks (N, H, W), or boxes (N, boxes, 6).

    Returns:
        int array (N,); `labels` themselves where there is one label an element.
    """
    if labels.ndim == 1:
        return labels
    return np.unique(~classes_in(labels), axis=0, return_inverse=True)[1].reshape(-1)


def spread_over_classes(labels, count, seed=0):
    """Chooses elements in rounds, each of which takes one random element of every class.

    Args:
        labels: int array (N,), or masks (N, H, W) or boxes (N, boxes, 6), of which those with the same
            classes count as one class.
        count: how many elements, at most N.
        seed: int, decides which.

    Returns:
        int array (count,) of different positions in `labels`.

    Raises:
        ValueError: `count` is not from 1 to N.
    """
    if not 1 <= count <= len(labels):
        raise InputError(f"count={count} must be from 1 to {len(labels)}, the number of images")
    order, rounds, _ = _random_rounds(labels, seed)
    return order[np.argsort(rounds, kind="stable")[:count]]


def few_of(dataset, count, seed=0):
    """Takes some elements of a data set, as many of each class as there are, or as good as.

    Args:
        dataset: an `ImageDataset`.
        count: how many elements, at most all.
        seed: int, decides which.

    Returns:
        An `ImageDataset` of the same part, in the order of `dataset`.

    Raises:
        ValueError: `count` is not from 1 to the size of `dataset`.
    """
    return dataset.subset(np.sort(spread_over_classes(dataset.labels, count, seed)), dataset.split)


def split_off(dataset, share, seed=0):
    """Splits a part off, in which each class has the same share as in what is left.

    Args:
        dataset: an `ImageDataset`.
        share: float between 0 and 1, the share of the elements to split off.
        seed: int, decides which.

    Returns:
        (what is left, what is split off), two `ImageDataset`, the second named "validation".

    Raises:
        ValueError: one of them would be empty.
    """
    count = round(share * len(dataset))
    if not 0 < count < len(dataset):
        raise InputError(
            f"a share of {share} of the {len(dataset)} images of {dataset.name}, {dataset.split} part, "
            "leaves no image on one side"
        )
    order, rounds, sizes = _random_rounds(dataset.labels, seed)
    # Going up through each class at a speed proportional to its size.
    order = order[np.argsort((rounds + 0.5) / sizes, kind="stable")]
    chosen, left = np.sort(order[:count]), np.sort(order[count:])
    return dataset.subset(left, dataset.split), dataset.subset(chosen, "validation")


def _random_rounds(labels, seed):
    """A random order of the elements; in this order, the place of each in its class and the class's size."""
    classes = strata(labels)
    order = np.random.default_rng(seed).permutation(len(classes))
    taken = np.zeros(classes.max() + 1, np.int64)
    rounds = np.empty(len(classes), np.int64)
    for position, label in enumerate(classes[order]):
        rounds[position] = taken[label]
        taken[label] += 1
    return order, rounds, taken[classes[order]]
