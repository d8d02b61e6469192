"""Image sets: found on disk, read lazily, and made into the batches that `keras.Model.fit` takes."""

from training.data.catalog import DATASETS, load_dataset
from training.data.dataset import ImageDataset
from training.data.pipeline import batches, sample_batches, sample_images, steps_per_epoch

__all__ = [
    "DATASETS",
    "ImageDataset",
    "batches",
    "load_dataset",
    "sample_batches",
    "sample_images",
    "steps_per_epoch",
]
