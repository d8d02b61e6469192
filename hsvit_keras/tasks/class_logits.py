"""What tasks have in common whose one output holds a logit of each class on its last axis."""

import numpy as np

from hsvit_keras.tasks.task import NEAR_TIE, Task, only, same_form


class ClassLogitsTask(Task):
    """A task that chooses a class, of an image or of each pixel. `agreement`: how often two choose alike."""

    learns_from_teachers = True

    def comparable(self, outputs, probabilities=False, step=None):
        return same_form(only(outputs), probabilities, step)

    def compare(self, expected, outputs):
        compared = super().compare(expected, outputs)
        wanted, chosen = only(expected), only(outputs).argmax(-1)
        same = wanted.argmax(-1) == chosen
        lead = wanted.max(-1) - np.take_along_axis(wanted, chosen[..., np.newaxis], -1)[..., 0]
        spread = (wanted - wanted.mean(-1, keepdims=True)).std()
        alike = np.isfinite(only(outputs)).all(-1) & (same | (lead <= NEAR_TIE * spread))
        return {**compared, self.agreement.name: float(np.mean(same)), "alike": float(np.mean(alike))}
