"""Yes or no: one output of a binary classifier, or one for each of several labels that exclude nothing."""

import numpy as np

from hsvit_keras.tasks.task import NEAR_TIE, Task, only
from hsvit_runtime.errors import InputError
from hsvit_runtime.measure import Measure

_LEAST_PROBABILITY = 1e-7  # of a float32 sigmoid, on either side


class MultiLabelClassification(Task):
    """A decision for each output `(batch, labels)`: a probability above 0.5, a logit above 0."""

    name = "multi_label_classification"
    agreement = Measure("label_agreement", "Same labels")

    def comparable(self, outputs, probabilities=False, step=None):
        """Logits; probabilities in steps have no meaningful logit and are compared themselves, less 0.5."""
        numbers = np.asarray(only(outputs), "float64")
        if step:
            numbers = numbers if probabilities else 1 / (1 + np.exp(-numbers))
            return {"decisions": np.rint(numbers / step) * step - 0.5}
        if probabilities:
            numbers = np.clip(numbers, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
            numbers = np.log(numbers) - np.log1p(-numbers)
        return {"decisions": numbers}

    def compare(self, expected, outputs):
        compared = super().compare(expected, outputs)
        wanted, found = only(expected), only(outputs)
        same = (wanted > 0) == (found > 0)
        near_tie = np.abs(wanted) <= NEAR_TIE * np.sqrt(np.mean(wanted**2))
        alike = np.isfinite(found) & (same | near_tie)
        return {**compared, self.agreement.name: float(np.mean(same)), "alike": float(np.mean(alike))}

    def check_outputs(self, shapes, class_names, name):
        if len(shapes) != 1 or len(shapes[0]) != 2:
            raise InputError(f"{name} has to give one output (batch, labels); its outputs are {shapes}")
        if class_names is not None and len(class_names) != shapes[0][-1]:
            raise InputError(f"{name} has {shapes[0][-1]} outputs and {len(class_names)} class names")


class BinaryClassification(MultiLabelClassification):
    """One decision a sample, of one output `(batch, 1)`."""

    name = "binary_classification"
    agreement = Measure("decision_agreement", "Same decision")

    def check_outputs(self, shapes, class_names, name):
        if len(shapes) != 1 or len(shapes[0]) != 2 or shapes[0][-1] != 1:
            raise InputError(f"{name} has to decide by one output (batch, 1); its outputs are {shapes}")
