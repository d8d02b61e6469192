"""Video classification: one class a clip, of logits `(batch, classes)`.

Classification of clips `(frames, height, width, channels)`, which differ in how they are augmented and drawn.
"""

import numpy as np

from hsvit_keras.tasks.classification import Classification
from hsvit_keras.tasks.task import only
from hsvit_runtime.pixels import side_by_side


class VideoClassification(Classification):
    """One class a clip; labels of a data set are the classes' indices `(count,)`."""

    name = "video_classification"

    def augmentable(self, images, labels, num_classes):
        """Frames become channels of one image, so that all of a clip are moved and cut alike."""
        batch, frames, height, width, channels = images.shape
        stacked = np.moveaxis(images, 1, 3).reshape(batch, height, width, frames * channels)
        return super().augmentable(stacked, labels, num_classes)

    def images(self, augmented, shape):
        batch, frames, height, width, channels = shape
        stacked = np.asarray(augmented["images"]).reshape(batch, height, width, frames, channels)
        return np.moveaxis(stacked, 3, 1)

    def draw(self, images, labels, outputs, class_names):
        from matplotlib.figure import Figure

        predicted = only(outputs).argmax(-1)
        frames, height, width = images.shape[1:4]
        figure = Figure(figsize=(9, 0.2 + len(images) * (0.25 + 9 * height / (frames * width))))
        figure.set_layout_engine("constrained")
        for axes, clip, label, found in zip(
            np.ravel(figure.subplots(len(images), 1)), images, labels, predicted, strict=True
        ):
            strip = side_by_side(clip)
            axes.imshow(strip[..., 0] if strip.shape[-1] == 1 else strip, cmap="gray", vmin=0, vmax=255)
            right = "" if found == label else f", not {class_names[label]}"
            axes.set_title(f"{class_names[found]}{right}", fontsize=8)
            axes.set_axis_off()
        return figure
