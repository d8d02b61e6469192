"""From a data set to batches of pixels: batch k is a function of the seed and k alone.

So a run that starts again at batch k sees what an unbroken run sees. The order of an epoch, the random
numbers of a batch and the images in it are all computed from (seed, k), whole batches at a time.
"""

import functools

import numpy as np

from data_sets.clips import resized_clip
from data_sets.crops import CENTRE
from data_sets.images import ImageFiles, check_image_shape, resized, resized_mask
from data_sets.orders import check_views, shuffled
from data_sets.sampling import spread_over_classes
from hsvit_runtime.errors import InputError
from hsvit_runtime.pixels import in_range

# Sets that fit into this at their final size are decoded and resized once.
_CACHE_BYTES = 2 * 2**30

# The two uses of the seed, which must not draw the same numbers.
_ORDER, _AUGMENTATION = 0, 1

# The values of a black and a white pixel.
PIXELS = (0, 255)


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
):
    """Makes the batches to train or evaluate on.

    Keras cannot know the length of a Grain dataset: `fit` needs `steps_per_epoch` (and `epochs` here as
    there), `evaluate` needs `steps`, both given by `data_sets.steps_per_epoch`.

    Args:
        dataset: an `ImageDataset`.
        batch_size: images in a batch; the last batch of an epoch may be smaller.
        image_shape: (H, W, C) of the images, C being 1 (grey) or 3 (RGB), or (frames, H, W, C) of clips.
            Masks are resized with them.
        input_range: (low, high), the values that black and white pixels get.
        shuffle: whether to draw each epoch in an order of its own.
        seed: int, decides the orders and the augmentation.
        augment: function `(images, labels, rng) -> (images, labels)` of a resized batch, uint8
            (batch, H, W, C) and int32 (batch,) or (batch, H, W), and a `numpy.random.Generator` of its own.
            It may return floats from 0 to 255, and labels of any shape.
        crop: what part of an image is used, a crop of `data_sets.crops`.
        views: int, how often an image comes in a shuffled epoch, in different batches; as an epoch has as
            many images as the set, those of 3 views are a third of the set.
        epochs: how many epochs.
        start_batch: the first batch to make, counted from the first of the first epoch.
        drop_remainder: whether to leave out an epoch's smaller last batch.
        num_workers: threads that make batches ahead of time; 0 makes them when they are asked for.

    Returns:
        A `grain.IterDataset` of (images float32 (batch, H, W, C), labels int32 (batch, ...)).

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
    if crop.is_random and dataset.labels.ndim > 1:
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
        rng = np.random.default_rng((seed, _AUGMENTATION, k))
        pixels, labels = images.get(chosen, rng), _resized_labels(dataset, chosen, image_shape, crop)
        if augment is not None:
            pixels, labels = augment(pixels, labels, rng)
        return in_range(pixels, input_range), labels

    # A buffer of batches, not of images: Grain's default of 500 would not fit into memory.
    reading = grain.ReadOptions(num_threads=num_workers, prefetch_buffer_size=num_workers)
    return grain.MapDataset.range(start_batch, epochs * steps).map(make).to_iter_dataset(reading)


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
        (images float32 (count, ...), labels int32 (count, ...)).

    Raises:
        ValueError: an argument is out of its range, such as a count beyond the set's size.
    """
    image_shape = check_image_shape(image_shape, dataset.has_clips)
    chosen = spread_over_classes(dataset.labels, count, seed)
    pixels = _resize_all(dataset.images, chosen, image_shape, crop)
    return in_range(pixels, input_range), _resized_labels(dataset, chosen, image_shape, crop)


def sample_batches(dataset, count, *, batch_size=64, **preparation):
    """Takes some images as `sample_images` does, all there are if `count` is more, in batches of equal size.

    Args:
        dataset: an `ImageDataset`.
        count: how many images.
        batch_size: how many of them a batch has at most.
        **preparation: `image_shape`, `input_range`, `seed` and `crop` of `sample_images`.

    Returns:
        list of (images float32 (batch, H, W, C), labels int32 (batch, ...)).

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
            self._kept, self._is_kept = self._images, np.ones(len(dataset), bool)
        elif len(dataset) * np.prod(image_shape, dtype=np.int64) <= _CACHE_BYTES:
            # Memory that is not written to yet takes no room.
            self._kept = np.empty((len(dataset), *image_shape), np.uint8)
            self._is_kept = np.zeros(len(dataset), bool)

    def get(self, chosen, rng):
        """The images at some positions; `rng` is a random crop's."""
        if self._kept is None:
            return _resize_all(self._images, chosen, self._image_shape, self._crop, rng)
        new = chosen[~self._is_kept[chosen]]
        if len(new):
            self._kept[new] = _resize_all(self._images, new, self._image_shape, self._crop)
            self._is_kept[new] = True
        return self._kept[chosen]

    def _are_as_wanted(self):
        size = self._image_shape[-2:-4:-1]
        return (
            isinstance(self._images, np.ndarray)
            and self._images.shape[1:] == self._image_shape
            and self._crop.box(size, size) == (0, 0, *size)
        )


def _resize_all(images, chosen, image_shape, crop, rng=None):
    resize = resized_clip if len(image_shape) == 4 else resized
    return np.stack([resize(images, index, image_shape, crop, rng) for index in chosen])


def _resized_labels(dataset, chosen, image_shape, crop):
    """The labels at some positions, masks at the size of their images."""
    labels, size = dataset.labels[chosen], image_shape[-3:-1]
    if labels.ndim == 1:
        return labels
    keeps_aspect = isinstance(dataset.images, ImageFiles)
    return np.stack([resized_mask(mask, size, keeps_aspect, crop) for mask in labels])


def _check_at_least(least, **arguments):
    for name, value in arguments.items():
        if value < least:
            raise InputError(f"{name}={value} must be at least {least}")
