"""A picture of what a recipe's augmentation makes of images: a row for each operation, and one for all."""

import numpy as np

from command_line import plots
from data_sets import batches
from data_sets.crops import CentreCrop
from data_sets.sampling import spread_over_classes
from hsvit_keras.tasks import task_named
from hsvit_runtime.pixels import side_by_side
from training.fitting.augmentation import Augmentation

_IMAGES = 10
_CLIPS = 2


def draw(dataset, values, path):
    """Writes a sheet of augmented images, spread over the classes.

    Args:
        dataset: an `ImageDataset`.
        values: plain config.
        path: path of the .png to write.

    Raises:
        ValueError: the augmentation is wrong.
        OSError: the file cannot be written, or an image cannot be read.
    """
    count, width = (_CLIPS, 6) if dataset.has_clips else (_IMAGES, 1.1)
    dataset = dataset.subset(
        spread_over_classes(dataset.labels, min(len(dataset), count), values["seed"]), dataset.split
    )
    table = values["augmentation"]
    rows = [("as they are", ()), *((entry[0], [entry]) for entry in table), ("all", table)]
    with plots.style():
        figure = plots.new_figure((width * len(dataset) + 1.4, 1.1 * len(rows)))
        grid = figure.subplots(len(rows), len(dataset), squeeze=False)
        for line, (title, part) in zip(grid, rows, strict=True):
            for axes, pixels in zip(line, _augmented(dataset, values, part), strict=True):
                picture = side_by_side(pixels) if dataset.has_clips else pixels
                axes.imshow(picture, cmap="gray", vmin=0, vmax=255)
                axes.grid(False)
                axes.set(xticks=[], yticks=[])
            line[0].set_ylabel(title, rotation=0, ha="right", va="center", fontsize=8)
        plots.save(figure, path, dpi=100)


def _augmented(dataset, values, table):
    """All images of a set as one batch, in their order, uint8."""
    augment = Augmentation(table, task_named(dataset.task), len(dataset.class_names))
    ((images, _),) = batches(
        dataset,
        batch_size=len(dataset),
        image_shape=values["image_shape"],
        seed=values["seed"],
        augment=augment,
        crop=augment.crop or CentreCrop(**values["evaluation_crop"]),
    )
    return np.clip(np.rint(images), 0, 255).astype(np.uint8)
