"""Metrics that need the outputs for a whole part of a data set at once, such as average precision."""

import keras
import numpy as np

from training.fitting import optimization


def judge(model, batches, steps, task):
    """What a task's metrics say of a model on a part of a data set.

    Args:
        model: `keras.Model` whose outputs the task judges.
        batches: iterable of (images, targets).
        steps: int, batches to take.
        task: `hsvit_keras.tasks.Task`.

    Returns:
        dict from a metric's name to a float.
    """
    outputs, targets = [], []
    for _, (images, wanted) in zip(range(steps), batches, strict=False):
        outputs.append(model.predict_on_batch(images))
        targets.append(np.asarray(wanted))
    joined = {name: np.concatenate([each[name] for each in outputs]) for name in outputs[0]}
    return task.evaluate(joined, np.concatenate(targets))


class JudgeWhole(keras.callbacks.Callback):
    """Adds a task's metrics on the validation part to what each epoch has measured.

    Args:
        judged: `keras.Model` over the layers of the model in training, whose outputs the task judges.
        data: `training.fitting.data.Data`.
    """

    def __init__(self, judged, data):
        super().__init__()
        self._judged, self._data = judged, data

    def on_epoch_end(self, epoch, logs=None):
        # On JAX `self.model` brings what was learned into the variables, which both models share.
        with optimization.averaged(self.model.optimizer):
            found = judge(self._judged, self._data.validation(), self._data.validation_steps, self._data.task)
        logs.update({f"val_{name}": value for name, value in found.items()})
