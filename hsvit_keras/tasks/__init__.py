"""What models are for: `task_named("classification")`, `task_of(description, output_shapes)`."""

from hsvit_keras.tasks.classification import Classification
from hsvit_keras.tasks.segmentation import Segmentation
from hsvit_keras.tasks.task import Task
from hsvit_runtime.errors import InputError
from hsvit_runtime.measure import Measure

TASKS = {task.name: task for task in (Task(), Classification(), Segmentation())}

__all__ = ["TASKS", "Classification", "Measure", "Segmentation", "Task", "task_named", "task_of"]


def task_named(name):
    """The task of a name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in TASKS:
        raise InputError(f"there is no task {name!r}; there are {', '.join(TASKS)}")
    return TASKS[name]


def task_of(description, output_shapes):
    """The task of a model.

    Args:
        description: `hsvit_runtime.description.Description`.
        output_shapes: list of tuples, the batch first.

    Returns:
        The task that the model says; else classification where its one output is (batch, 2 or more); else
        the task that knows tensors only.
    """
    if description.task is not None:
        return task_named(description.task)
    if len(output_shapes) == 1 and len(output_shapes[0]) == 2 and (output_shapes[0][1] or 0) > 1:
        return TASKS["classification"]
    return TASKS["tensors"]
