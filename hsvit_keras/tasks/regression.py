"""Regression: numbers `(batch, count)`."""

from hsvit_keras.tasks.task import Task
from hsvit_runtime.errors import InputError


class Regression(Task):
    """Numbers; two models agree in those that are alike, see `Task`."""

    name = "regression"

    def check_outputs(self, shapes, class_names, name):
        if len(shapes) != 1:
            raise InputError(f"{name} has to give one output of numbers; its outputs are {shapes}")
