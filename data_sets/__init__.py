"""Image sets: found on disk, read lazily, and made into the batches that `keras.Model.fit` takes."""

from data_sets.catalog import DATASETS, load_dataset
from data_sets.dataset import ImageDataset
from data_sets.pipeline import batches, sample_batches, sample_images, steps_per_epoch

__all__ = [
    "DATASETS",
    "ImageDataset",
    "batches",
    "load_dataset",
    "sample_batches",
    "sample_images",
    "steps_per_epoch",
]
