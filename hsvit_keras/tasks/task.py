"""What a model is for: the one place that knows how outputs are learned, judged, compared and drawn.

`Task` itself knows tensors only and serves any model; its subclasses know what the tensors mean. Fitting,
compression, conversion, benchmark, bundle and report ask a task and know no classes themselves.
"""

import dataclasses

import numpy as np

from hsvit_runtime.errors import InputError
from hsvit_runtime.measure import Measure

_LEAST_PROBABILITY = 1e-30  # of a float32 softmax
# Two numbers are alike if they differ by less than this share of the standard deviation that the number has
# over the samples. That does not change with an offset, however large it is; honest artifacts of 8 bits
# differ by less than half of it.
_NEAR = 0.25
# A choice that the expected outputs hardly make, by less than this share of their spread, is left to
# rounding: of a model that is not trained, or of inputs that it was not made for, many choices are so.
NEAR_TIE = 0.1


class Task:
    """Any model: outputs are tensors, and all that can be told is how near they are.

    Attributes:
        name: str, in files and recipes.
        metric: `Measure` of outputs against labels, the main one, which chooses the best epoch; None where
            there are no labels to judge by.
        agreement: `Measure` of how often two models say the same.
        judges_whole: bool, whether `evaluate` has to see all samples of a part at once; `metrics` and
            `test_metrics`, which add up what batches say, are empty then.
        loss_is_on_host: bool, whether a part of the loss is computed by the host, which XLA cannot on
            TensorFlow.
        learns_from_teachers: bool, whether outputs are logits of classes on the last axis, which a student
            can learn from another model (`training.fitting.distillation`).
        data_task: str, the name of the task whose data sets a model learns from.
    """

    name = "tensors"
    metric = None
    agreement = Measure("alike", "Outputs alike")
    judges_whole = False
    loss_is_on_host = False
    learns_from_teachers = False

    @property
    def data_task(self):
        return self.name

    def to_json(self):
        """The `task` block of reports: dict `{name, metric, agreement}`."""
        metric, agreement = (
            None if measure is None else dataclasses.asdict(measure)
            for measure in (self.metric, self.agreement)
        )
        return {"name": self.name, "metric": metric, "agreement": agreement}

    # ---- learning ------------------------------------------------------------------------------------
    def learner(self, model):
        """The `keras.Model` to fit, over the layers of `model`, whose output the loss reads."""
        return model

    def loss(self, label_smoothing=0.0, class_weights=None, model=None):
        """The Keras loss of targets and outputs.

        Args:
            label_smoothing: float in [0, 1).
            class_weights: sequence of float, one for each class, or None.
            model: `keras.Model` as `learner` gave it, for models that have a loss of their own.
        """
        raise InputError(f"the task {self.name!r} has no loss: a model cannot be trained for it")

    def metrics(self, num_classes):
        """Keras metrics of targets and outputs, the main one first, named `metric.name`."""
        raise InputError(f"the task {self.name!r} has no metrics: a model cannot be trained for it")

    def test_metrics(self, num_classes):
        """Keras metrics of the test part: those of `metrics`, then what papers report besides."""
        return self.metrics(num_classes)

    def augmentable(self, images, labels, num_classes):
        """What augmentation changes together: a dict as Keras' image layers take it.

        Args:
            images: array (batch, height, width, channels), or of another task's elements.
            labels: array of a data set's labels (batch, ...).
            num_classes: int.
        """
        raise InputError(f"the task {self.name!r} cannot be trained")

    def images(self, augmented, shape):
        """The images of a shape, from the dict of `augmentable` after augmentation."""
        return augmented["images"]

    def targets(self, augmented):
        """The targets of the loss, from the dict of `augmentable` after augmentation."""
        raise InputError(f"the task {self.name!r} cannot be trained")

    # ---- judging -------------------------------------------------------------------------------------
    def evaluate(self, outputs, labels):
        """How good outputs are.

        Args:
            outputs: dict from name to array (count, ...).
            labels: array of a data set's labels (count, ...).

        Returns:
            dict from a metric's name to a float; empty where the labels are not the outputs' own.
        """
        return {}

    def comparable(self, outputs, probabilities=False, step=None):
        """Outputs in a form in which logits and probabilities of one model are the same numbers.

        Args:
            outputs: dict from name to array (count, ...).
            probabilities: bool, whether a softmax stands behind the logits.
            step: float, what probabilities are rounded to in an integer output; None for floats.

        Returns:
            dict from name to array (count, ...).
        """
        return outputs

    def compare(self, expected, outputs):
        """How near two models' outputs are.

        Args:
            expected: dict from name to array (count, ...), the original's, as `comparable` gives it.
            outputs: dict of the same names and shapes, likewise.

        Returns:
            dict with `samples`, `max_abs_diff`, `cosine` (the lowest of all tensors, each taken as one
            vector; 1 when both are zero, 0 when only one is), `largest_output`, what `agreement` names, and
            `alike`, the share of what is said that is the same or nearly tied (of numbers: within a quarter
            of their spread over the samples), which limits are set for.
        """
        pairs = _pairs(expected, outputs)
        return {
            "samples": len(pairs[0][0]),
            "max_abs_diff": max(float(np.abs(one - other).max()) for one, other in pairs),
            "cosine": min(_cosine(one, other) for one, other in pairs),
            "largest_output": max(float(np.abs(one).max()) for one, _ in pairs),
            "alike": min(_share_alike(one, other) for one, other in pairs),
        }

    # ---- checking ------------------------------------------------------------------------------------
    def check_outputs(self, shapes, class_names, name):
        """Raises `InputError` unless outputs of these shapes are this task's.

        Args:
            shapes: list of tuples, the batch first.
            class_names: sequence of str, or None.
            name: what to call the model.
        """

    # ---- drawing -------------------------------------------------------------------------------------
    def detection_rule(self, names):
        """How a program without this package makes boxes of outputs, and compares those of two models.

        Args:
            names: names of the outputs.

        Returns:
            dict, the `detection` of `export/bundles/bundle.schema.json`; None where outputs are no boxes.
        """
        return None

    def draw(self, images, labels, outputs, class_names):
        """A figure of some images with what a model says of them; None where there is nothing to draw.

        Args:
            images: uint8 array (count, height, width, channels), or of another task's elements.
            labels: array of a data set's labels (count, ...).
            outputs: dict from name to array (count, ...).
            class_names: sequence of str.

        Returns:
            matplotlib Figure, or None.
        """
        return None


def only(outputs):
    """The one array of a dict."""
    (output,) = outputs.values()
    return np.asarray(output)


def _pairs(expected, outputs):
    if not expected or expected.keys() != outputs.keys():
        raise InputError(
            f"two models with the outputs {', '.join(expected) or 'none'} and {', '.join(outputs) or 'none'} "
            "cannot be compared"
        )
    pairs = [
        (np.asarray(expected[name], "float64"), np.asarray(outputs[name], "float64")) for name in expected
    ]
    for one, other in pairs:
        if one.shape != other.shape or not one.size:
            raise InputError(
                f"outputs to compare have to be of one shape; received {one.shape}, {other.shape}"
            )
    return pairs


def _cosine(one, other):
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return float(np.sum(one * other) / lengths) if lengths else float(np.array_equal(one, other))


def _share_alike(one, other):
    """The share of numbers within `_NEAR` of their spread, which is that of their place on the last axis."""
    axes = tuple(range(max(one.ndim - 1, 1)))
    spread = one.std(axes, keepdims=True)
    # What is constant, as in a single sample, has no spread of its own.
    size = np.sqrt(np.mean(one**2))
    spread = np.where(spread > 1e-6 * size, spread, size)
    return float(np.mean(np.abs(one - other) <= _NEAR * spread))


def same_form(outputs, probabilities, step):
    """Logits or probabilities (..., classes) in one form.

    Logarithms of probabilities, less their mean: what a common offset of the logits does not change.
    Probabilities in steps have no meaningful logarithm: they are compared themselves, rounded alike.
    """
    numbers = np.asarray(outputs, "float64")
    if not probabilities:
        powers = np.exp(numbers - numbers.max(-1, keepdims=True))
        numbers = powers / powers.sum(-1, keepdims=True)
    if step:
        return {"probabilities": np.rint(numbers / step) * step}
    logs = np.log(np.maximum(numbers, _LEAST_PROBABILITY))
    return {"log_probabilities": logs - logs.mean(-1, keepdims=True)}
