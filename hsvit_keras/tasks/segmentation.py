"""Segmentation: one class a pixel, of logits `(batch, height, width, classes)`."""

import numpy as np

from hsvit_keras.tasks.class_logits import ClassLogitsTask
from hsvit_keras.tasks.task import only
from hsvit_runtime.errors import InputError
from hsvit_runtime.measure import Measure


class Segmentation(ClassLogitsTask):
    """One class a pixel; labels of a data set are masks of class indices `(count, height, width)`."""

    name = "segmentation"
    metric = Measure("mean_iou", "Mean IoU")
    agreement = Measure("pixel_agreement", "Same class of a pixel")

    def loss(self, label_smoothing=0.0, model=None):
        import keras

        if label_smoothing:
            raise InputError(
                f"masks are not smoothed: label_smoothing has to be 0; received {label_smoothing}"
            )
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def metrics(self, num_classes):
        from hsvit_keras.tasks.mean_iou import MeanIoU

        return [MeanIoU(num_classes, name=self.metric.name)]

    def augmentable(self, images, labels, num_classes):
        return {"images": images, "segmentation_masks": labels[..., np.newaxis].astype("float32")}

    def targets(self, augmented):
        return np.rint(np.asarray(augmented["segmentation_masks"])[..., 0]).astype("int32")

    def evaluate(self, outputs, labels):
        logits = only(outputs)
        return {self.metric.name: _mean_iou(np.asarray(labels), logits.argmax(-1), logits.shape[-1])}

    def check_outputs(self, shapes, class_names, name):
        if len(shapes) != 1 or len(shapes[0]) != 4:
            raise InputError(
                f"{name} has to segment images, with one output (batch, height, width, classes); "
                f"its outputs are {shapes}"
            )
        if class_names is not None and len(class_names) != shapes[0][-1]:
            raise InputError(f"{name} has {shapes[0][-1]} classes and {len(class_names)} class names")

    def draw(self, images, labels, outputs, class_names):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(1.6 * len(images), 4.4), layout="constrained")
        rows = {"image": images, "right": np.asarray(labels), "predicted": only(outputs).argmax(-1)}
        grid = figure.subplots(len(rows), len(images), squeeze=False)
        for row, (title, pictures) in zip(grid, rows.items(), strict=True):
            for axes, picture in zip(row, pictures, strict=True):
                if title == "image":
                    shown = picture[..., 0] if picture.shape[-1] == 1 else picture
                    axes.imshow(shown, cmap="gray", vmin=0, vmax=255)
                else:
                    axes.imshow(picture, cmap="tab20", vmin=0, vmax=max(1, len(class_names) - 1))
                axes.set_xticks([])
                axes.set_yticks([])
            row[0].set_ylabel(title, fontsize=8)
        return figure


def _mean_iou(labels, predicted, num_classes):
    """The mean over the classes that occur of intersection over union."""
    counts = np.bincount(num_classes * labels.ravel() + predicted.ravel(), minlength=num_classes**2)
    confusion = counts.reshape(num_classes, num_classes)
    union = confusion.sum(0) + confusion.sum(1) - np.diag(confusion)
    occurs = union > 0
    return float(np.mean(np.diag(confusion)[occurs] / union[occurs]))
