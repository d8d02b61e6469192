"""The order of an epoch, in which an image may come several times: repeated augmentation.

As in DeiT (https://arxiv.org/abs/2012.12877) an epoch stays as long as it is: of 3 views each, a third of the
images comes in it. Reference: https://arxiv.org/abs/1901.09335
"""

import numpy as np

from hsvit_runtime.errors import InputError


def shuffled(count, views, rng):
    """A random order in which two views of an image are half a round apart, a round being all images once.

    Args:
        count: int, images in the set and in an epoch.
        views: int, how often an image comes; a few of the last round may come once less.
        rng: `numpy.random.Generator`.

    Returns:
        int array (count,) of positions in the set.
    """
    order = rng.permutation(count)
    if views == 1:
        return order
    half = _round(count, views) // 2
    first, second = np.split(order[: _round(count, views)], [half])
    rounds = [rng.permutation(part) for _ in range(views) for part in (first, second)]
    return np.concatenate(rounds)[:count]


def check_views(count, views, batch_size):
    """Raises `InputError` if two views of an image may come into one batch."""
    most = _round(count, views) // 2 + 1
    if batch_size > most:
        raise InputError(
            f"views={views} of {count} images are in different batches if batch_size is at most {most}; "
            f"received {batch_size}"
        )


def _round(count, views):
    """How many images come in an epoch."""
    return -(-count // views)
