"""Classification: one class an image, of logits `(batch, classes)`."""

import numpy as np

from hsvit_keras.tasks.class_logits import ClassLogitsTask
from hsvit_keras.tasks.task import only
from hsvit_runtime.errors import InputError
from hsvit_runtime.measure import Measure

# How many classes papers let a model name, and the name of how often the right one is among them.
TOP = 5
TOP_METRIC = "top5_accuracy"


class Classification(ClassLogitsTask):
    """One class an image; labels of a data set are the classes' indices `(count,)`."""

    name = "classification"
    metric = Measure("accuracy", "Accuracy")
    agreement = Measure("top1_agreement", "Same class")

    def loss(self, label_smoothing=0.0, model=None):
        import keras

        return keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=label_smoothing)

    def metrics(self, num_classes):
        import keras

        return [keras.metrics.CategoricalAccuracy(name=self.metric.name)]

    def test_metrics(self, num_classes):
        import keras

        if num_classes <= TOP:  # the right class is always among them
            return self.metrics(num_classes)
        top = keras.metrics.TopKCategoricalAccuracy(TOP, name=TOP_METRIC)
        return [*self.metrics(num_classes), top]

    def augmentable(self, images, labels, num_classes):
        return {"images": images, "labels": np.eye(num_classes, dtype="float32")[labels]}

    def targets(self, augmented):
        return augmented["labels"]

    def evaluate(self, outputs, labels):
        return {self.metric.name: float(np.mean(only(outputs).argmax(-1) == np.asarray(labels)))}

    def check_outputs(self, shapes, class_names, name):
        if len(shapes) != 1 or len(shapes[0]) != 2:
            raise InputError(
                f"{name} has to classify images, with one output (batch, classes); its outputs are {shapes}"
            )
        if class_names is not None and len(class_names) != shapes[0][-1]:
            raise InputError(f"{name} has {shapes[0][-1]} outputs and {len(class_names)} class names")

    def draw(self, images, labels, outputs, class_names):
        from matplotlib.figure import Figure

        predicted = only(outputs).argmax(-1)
        figure = Figure(figsize=(1.4 * len(images), 1.8), layout="constrained")
        for axes, image, label, found in zip(
            np.ravel(figure.subplots(1, len(images))), images, labels, predicted, strict=True
        ):
            axes.imshow(image[..., 0] if image.shape[-1] == 1 else image, cmap="gray", vmin=0, vmax=255)
            right = "" if found == label else f", not {class_names[label]}"
            axes.set_title(f"{class_names[found]}{right}", fontsize=8)
            axes.set_axis_off()
        return figure
