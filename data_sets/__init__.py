"""Data sets: found on disk, read lazily, and made into the batches that `keras.Model.fit` takes."""

from data_sets.catalog import DATASETS, load_dataset, load_validation
from data_sets.dataset import ImageDataset
from data_sets.pipeline import batches, sample_batches, sample_images, steps_per_epoch
from data_sets.sampling import few_of, split_off

__all__ = [
    "DATASETS",
    "ImageDataset",
    "batches",
    "few_of",
    "load_dataset",
    "load_validation",
    "sample_batches",
    "sample_images",
    "split_off",
    "steps_per_epoch",
]
