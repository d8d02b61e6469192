"""How good a model is on the test part."""

import keras

from training.fitting.fit import jit
from training.fitting.judging import judge


def evaluate_on_test(model, data, values, callbacks=()):
    """Loss and metrics of a model on the test part.

    Args:
        model: `keras.Model`; it stays as it is.
        data: `training.fitting.data.Data`.
        values: plain config.
        callbacks: list of `keras.callbacks.Callback`.

    Returns:
        dict of `samples`, `loss` and a float for each of the test metrics of the data's task.
    """
    judged = data.task.learner(model)
    if judged is model:
        judged = keras.Model(model.inputs, model.outputs)  # so that the model itself is not compiled
    judged.compile(
        loss=data.task.loss(model=judged),
        metrics=data.task.test_metrics(data.num_classes),
        jit_compile=jit(values["jit"], data.task),
    )
    found = judged.evaluate(
        data.test(), steps=data.test_steps, verbose=0, return_dict=True, callbacks=list(callbacks)
    )
    if data.task.judges_whole:
        found |= judge(model, data.test(), data.test_steps, data.task)
    return {"samples": len(data.test_set), **{name: float(value) for name, value in found.items()}}
