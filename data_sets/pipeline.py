"""From a data set to batches of pixels: batch k is a function of the seed and k alone.

So a run that starts again at batch k sees what an unbroken run sees. The order of an epoch, the random
numbers of a batch and the images in it are all computed from (seed, k), whole batches at a time. A process
that has a part of each batch draws for the whole of it, and reads and changes the images of its part.
"""

import functools

import numpy as np

from data_sets.clips import resized_clip
from data_sets.crops import CENTRE
from data_sets.images import ImageFiles, check_image_shape, resized_mask, resized_part
from data_sets.orders import check_views, shuffled
from data_sets.sampling import spread_over_classes
from hsvit_runtime import box_labels
from hsvit_runtime.errors import InputError
from hsvit_runtime.pixels import in_range

# Sets that fit into this at their final size are decoded and resized once.
_CACHE_BYTES = 2 * 2**30

# The uses of the seed, which must not draw the same numbers; callbacks of training have 2.
_ORDER, _AUGMENTATION, _CROP = 0, 1, 3

# The values of a black and a white pixel.
PIXELS = (0, 255)

# The part of each batch that a process has which trains alone.
WHOLE = (0, 1)

# The part of an image that is all of it.
_FULL_IMAGE = (0.0, 0.0, 1.0, 1.0)


def batches(
    dataset,
    *,
    batch_size,
    image_shape,
    input_range=PIXELS,
    shuffle=False,
    seed=0,
    augment=None,
    crop=CENTRE,
    views=1,
    epochs=1,
    start_batch=0,
    drop_remainder=False,
    num_workers=0,
    part=WHOLE,
):
    """Makes the batches to train or evaluate on.

    Keras cannot know the length of a Grain dataset: `fit` needs `steps_per_epoch` (and `epochs` here as
    there), `evaluate` needs `steps`, both given by `data_sets.steps_per_epoch`.

    Args:
        dataset: an `ImageDataset`.
        batch_size: images in a batch; the last batch of an epoch may be smaller.
        image_shape: (H, W, C) of the images, C being 1 (grey) or 3 (RGB), or (frames, H, W, C) of clips.
            Masks are resized with them, boxes cut off at their edges.
        input_range: (low, high), the values that black and white pixels get.
        shuffle: whether to draw each epoch in an order of its own.
        seed: int, decides the orders and the augmentation.
        augment: function `(images, labels, rng) -> (images, labels)` of a resized batch, uint8
            (batch, H, W, C) and the labels of a batch, and a `numpy.random.Generator` of its own.
            It may return floats from 0 to 255, and labels of any shape. For a part of batches it takes
            `rows` as well, see `training.fitting.augmentation.Augmentation`, and has its method `reads`.
        crop: what part of an image is used, a crop of `data_sets.crops`.
        views: int, how often an image comes in a shuffled epoch, in different batches; as an epoch has as
            many images as the set, those of 3 views are a third of the set.
        epochs: how many epochs.
        start_batch: the first batch to make, counted from the first of the first epoch.
        drop_remainder: whether to leave out an epoch's smaller last batch.
        num_workers: threads that make batches ahead of time; 0 makes them when they are asked for.
        part: (i, n), to make the i-th of n equal parts of each batch, the same as in whole ones.

    Returns:
        A `grain.IterDataset` of (images float32 (batch, H, W, C), labels (batch, ...), see `ImageDataset`).

    Raises:
        ValueError: an argument is out of its range.
    """
    import grain  # imports JAX where it is installed, which takes seconds

    steps = steps_per_epoch(dataset, batch_size, drop_remainder)
    _check_at_least(1, epochs=epochs, views=views)
    _check_at_least(0, seed=seed, start_batch=start_batch, num_workers=num_workers)
    if start_batch > epochs * steps:
        raise InputError(f"start_batch={start_batch} is beyond the {epochs} epochs of {steps} batches")
    image_shape = check_image_shape(image_shape, dataset.has_clips)
    if crop.is_random and dataset.labels.ndim > 1 and not box_labels.are_boxes(dataset.labels):
        raise InputError(f"{dataset.name} has masks, which are not cropped at random with their images")
    if views > 1:
        check_views(len(dataset), views, batch_size)
    images = _ResizedImages(dataset, image_shape, crop)

    @functools.lru_cache(maxsize=2)
    def epoch_order(epoch):
        if not shuffle:
            return np.arange(len(dataset))
        return shuffled(len(dataset), views, np.random.default_rng((seed, _ORDER, epoch)))

    def make(k):
        epoch, step = divmod(k, steps)
        chosen = epoch_order(epoch)[step * batch_size : (step + 1) * batch_size]
        pixels, labels = (make_whole if part == WHOLE else make_part)(k, chosen)
        return in_range(pixels, input_range), labels

    def make_whole(k, chosen):
        pixels, labels = read(k, chosen, np.arange(len(chosen)))
        return (pixels, labels) if augment is None else augment(pixels, labels, draws(k))

    def make_part(k, chosen):
        mine = rows_of_part(part, len(chosen))
        rows = mine if augment is None else augment.reads(mine, len(chosen))
        there, labels = read(k, chosen, rows)
        pixels = np.zeros((len(chosen), *image_shape), np.uint8)
        pixels[rows] = there
        if augment is not None:
            pixels, labels = augment(pixels, labels, draws(k), rows)
        return pixels[mine], labels[mine]

    def read(k, chosen, rows):
        """Images at `rows`, and the labels of all that are chosen."""
        pixels, seen = images.get(chosen[rows], [(seed, _CROP, k, row) for row in rows.tolist()])
        parts = np.tile(_FULL_IMAGE, (len(chosen), 1))
        parts[rows] = seen
        return pixels, _resized_labels(dataset, chosen, image_shape, crop, parts)

    def draws(k):
        return np.random.default_rng((seed, _AUGMENTATION, k))

    # A buffer of batches, not of images: Grain's default of 500 would not fit into memory.
    reading = grain.ReadOptions(num_threads=num_workers, prefetch_buffer_size=num_workers)
    return grain.MapDataset.range(start_batch, epochs * steps).map(make).to_iter_dataset(reading)


def rows_of_part(part, batch):
    """The places in a batch of the i-th of n equal parts.

    Raises:
        ValueError: n does not divide the batch.
    """
    index, count = part
    size, rest = divmod(batch, count)
    if rest:
        raise InputError(f"{count} processes cannot share a batch of {batch} images evenly")
    return np.arange(index * size, (index + 1) * size)


def steps_per_epoch(dataset, batch_size, drop_remainder=False):
    """How many batches one epoch of `batches` has.

    Raises:
        ValueError: `batch_size` is not positive, or no batch is left once the remainder is dropped.
    """
    _check_at_least(1, batch_size=batch_size)
    whole, rest = divmod(len(dataset), batch_size)
    if drop_remainder and not whole:
        raise InputError(
            f"batch_size={batch_size} is more than the {len(dataset)} images of {dataset.name}, "
            f"{dataset.split} part, and drop_remainder leaves out smaller batches"
        )
    return whole + bool(rest and not drop_remainder)


def sample_images(dataset, count, *, image_shape, input_range=PIXELS, seed=0, crop=CENTRE):
    """Takes some images, spread evenly over the classes, as `batches` would prepare them.

    Args:
        dataset: an `ImageDataset`.
        count: how many images.
        image_shape: (H, W, C) of the images, (frames, H, W, C) of clips.
        input_range: (low, high), the values that black and white pixels get.
        seed: int, decides which images.
        crop: what part of an image is used, a `data_sets.crops.CentreCrop`.

    Returns:
        (images float32 (count, ...), labels (count, ...), see `ImageDataset`).

    Raises:
        ValueError: an argument is out of its range, such as a count beyond the set's size.
    """
    image_shape = check_image_shape(image_shape, dataset.has_clips)
    chosen = spread_over_classes(dataset.labels, count, seed)
    pixels, parts = _resize_all(dataset.images, chosen, image_shape, crop)
    return in_range(pixels, input_range), _resized_labels(dataset, chosen, image_shape, crop, parts)


def sample_batches(dataset, count, *, batch_size=64, **preparation):
    """Takes some images as `sample_images` does, all there are if `count` is more, in batches of equal size.

    Args:
        dataset: an `ImageDataset`.
        count: how many images.
        batch_size: how many of them a batch has at most.
        **preparation: `image_shape`, `input_range`, `seed` and `crop` of `sample_images`.

    Returns:
        list of (images float32 (batch, H, W, C), labels (batch, ...)).

    Raises:
        ValueError: an argument is out of its range.
    """
    arrays = sample_images(dataset, min(count, len(dataset)), **preparation)
    parts = -(-len(arrays[1]) // batch_size)
    return list(zip(*(np.array_split(array, parts) for array in arrays), strict=True))


class _ResizedImages:
    """The images of a set at one size, by arrays of positions; kept if all of them fit into memory.

    What is cropped at random is not kept: it is another part each time.
    """

    def __init__(self, dataset, image_shape, crop):
        self._images, self._image_shape, self._crop = dataset.images, image_shape, crop
        self._kept = None
        if crop.is_random:
            return
        if self._are_as_wanted():
            self._kept, self._parts = self._images, np.tile(_FULL_IMAGE, (len(dataset), 1))
            self._is_kept = np.ones(len(dataset), bool)
        elif len(dataset) * np.prod(image_shape, dtype=np.int64) <= _CACHE_BYTES:
            # Memory that is not written to yet takes no room.
            self._kept = np.empty((len(dataset), *image_shape), np.uint8)
            self._parts = np.empty((len(dataset), 4))
            self._is_kept = np.zeros(len(dataset), bool)

    def get(self, chosen, seeds):
        """The images at some positions, and their parts that these are; `seeds` are of random crops."""
        if self._kept is None:
            return _resize_all(self._images, chosen, self._image_shape, self._crop, seeds)
        new = chosen[~self._is_kept[chosen]]
        if len(new):
            self._kept[new], self._parts[new] = _resize_all(self._images, new, self._image_shape, self._crop)
            self._is_kept[new] = True
        return self._kept[chosen], self._parts[chosen]

    def _are_as_wanted(self):
        size = self._image_shape[-2:-4:-1]
        return (
            isinstance(self._images, np.ndarray)
            and self._images.shape[1:] == self._image_shape
            and self._crop.box(size, size) == (0, 0, *size)
        )


def _resize_all(images, chosen, image_shape, crop, seeds=None):
    """Images (count, ...) and their parts (count, 4)."""
    rngs = map(np.random.default_rng, seeds) if crop.is_random else [None] * len(chosen)
    found = [_resized(images, index, image_shape, crop, rng) for index, rng in zip(chosen, rngs, strict=True)]
    return tuple(map(np.stack, zip(*found, strict=True)))


def _resized(images, index, image_shape, crop, rng):
    """(an image or a clip at its size, the part of the picture that it is)."""
    if len(image_shape) == 4:
        return resized_clip(images, index, image_shape, crop, rng), _FULL_IMAGE
    return resized_part(images, index, image_shape, crop, rng)


def _resized_labels(dataset, chosen, image_shape, crop, parts):
    """The labels at some positions, as they are in those parts of their images."""
    labels, size = dataset.labels[chosen], image_shape[-3:-1]
    if box_labels.are_boxes(labels):
        return np.stack([box_labels.seen_in(*pair) for pair in zip(labels, parts, strict=True)])
    if labels.ndim == 1:
        return labels
    keeps_aspect = isinstance(dataset.images, ImageFiles)
    return np.stack([resized_mask(mask, size, keeps_aspect, crop) for mask in labels])


def _check_at_least(least, **arguments):
    for name, value in arguments.items():
        if value < least:
            raise InputError(f"{name}={value} must be at least {least}")
