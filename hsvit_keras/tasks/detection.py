"""Detection: boxes of objects with their classes, of outputs `logits` and `boxes`.

A detector gives a dict: `logits` `(batch, queries, classes)`, a score of each class by a sigmoid, and `boxes`
`(batch, queries, 4)`, center x, center y, width and height as shares of the image. Labels are those of
`hsvit_runtime.box_labels`.
"""

import numpy as np

from hsvit_keras.tasks.task import Task
from hsvit_runtime import box_labels
from hsvit_runtime.errors import InputError
from hsvit_runtime.measure import Measure


class Detection(Task):
    """Objects of a set of predictions, each assigned to one object or to none while learning."""

    name = "detection"
    metric = Measure("ap", "AP")
    agreement = Measure("detection_agreement", "Same detections")
    judges_whole = True
    loss_is_on_host = True
    suppresses = False  # whether of overlapping boxes of a class the best alone stays

    # ---- learning ------------------------------------------------------------------------------------
    def learner(self, model):
        from hsvit_keras.tasks.learned_outputs import learner

        return learner(model)

    def loss(self, label_smoothing=0.0, class_weights=None, model=None):
        from hsvit_keras.tasks.set_loss import SetLoss

        if class_weights is not None:
            raise InputError("the classes of boxes are not weighted: class_weights has to be None")
        if label_smoothing:
            raise InputError(
                f"classes of boxes are not smoothed: label_smoothing has to be 0; received {label_smoothing}"
            )
        return SetLoss()

    def metrics(self, num_classes):
        return []

    def augmentable(self, images, labels, num_classes):
        return {"images": images, "box_labels": labels}

    def targets(self, augmented):
        return augmented["box_labels"]

    # ---- judging -------------------------------------------------------------------------------------
    def evaluate(self, outputs, labels):
        from hsvit_keras.tasks.average_precision import average_precision

        detections, labels = self.detections(outputs), np.asarray(labels)
        classes = (detections.classes.max(initial=0), box_labels.classes(labels).max(initial=0))
        return average_precision(detections, labels, 1 + int(max(classes)))

    def detections(self, outputs):
        """The `Detections` of a dict of outputs, the best first, those of low scores among them."""
        from hsvit_keras.tasks.detections import check_names, detections_of

        check_names(outputs)
        return detections_of(outputs, self.suppresses)

    def compare(self, expected, outputs):
        """Compares tensors as `Task` does; of the detections that either keeps, tells how many both do."""
        from hsvit_keras.tasks.kept_detections import kept_by_both

        compared = super().compare(*map(_of_one_order, (expected, outputs)))
        finite = all(np.isfinite(array).all() for array in outputs.values())
        same, alike, kept = kept_by_both(self.detections(expected), self.detections(outputs))
        if kept:  # without any, the tensors tell
            compared["alike"] = alike / kept if finite else 0.0
        return {**compared, self.agreement.name: same / kept if kept else 1.0}

    # ---- checking ------------------------------------------------------------------------------------
    def check_outputs(self, shapes, class_names, name):
        is_pair = len(shapes) == 2 and all(len(shape) == 3 for shape in shapes)
        counts = [shape[2] for shape in shapes] if is_pair else []
        if 4 not in counts or shapes[0][1] != shapes[1][1]:
            raise InputError(
                f"{name} has to detect objects, with the outputs boxes (batch, queries, 4) and logits "
                f"(batch, queries, classes); its outputs are {shapes}"
            )
        counts.remove(4)
        if class_names is not None and len(class_names) != counts[0]:
            raise InputError(f"{name} has {counts[0]} classes and {len(class_names)} class names")

    # ---- drawing -------------------------------------------------------------------------------------
    def detection_rule(self, names):
        from hsvit_keras.tasks import detections, kept_detections

        detections.check_names(names)
        return {**detections.form(names, self.suppresses), **kept_detections.RULE}

    def draw(self, images, labels, outputs, class_names):
        from hsvit_keras.tasks.drawn_boxes import draw

        return draw(images, labels, self.detections(outputs), class_names)


def _of_one_order(outputs):
    """Without what changes places with another number where two scores are as good as equal."""
    return {"score": outputs["score"]} if "score" in outputs else outputs


class DenseDetection(Detection):
    """Objects of one prediction for each place of a grid, of which several find the same object."""

    name = "dense_detection"
    data_task = Detection.name
    suppresses = True

    def loss(self, label_smoothing=0.0, class_weights=None, model=None):
        from hsvit_keras.tasks.dense_losses import dense_loss_of

        found = None if model is None else dense_loss_of(model)
        return super().loss(label_smoothing, class_weights) if found is None else found
