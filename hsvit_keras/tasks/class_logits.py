"""What tasks have in common whose one output holds a logit of each class on its last axis."""

import numpy as np

from hsvit_keras.tasks.task import Task, only, same_form


class ClassLogitsTask(Task):
    """A task that chooses a class, of an image or of each pixel. `agreement`: how often two choose alike."""

    def comparable(self, outputs, probabilities=False, step=None):
        return same_form(only(outputs), probabilities, step)

    def compare(self, expected, outputs):
        compared = super().compare(expected, outputs)
        same = np.mean(only(expected).argmax(-1) == only(outputs).argmax(-1))
        return {**compared, self.agreement.name: float(same)}
