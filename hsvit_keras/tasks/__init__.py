"""What models are for: `task_named("classification")`, `task_of(description, output_shapes)`."""

from hsvit_keras.tasks.classification import Classification
from hsvit_keras.tasks.detection import DenseDetection, Detection
from hsvit_keras.tasks.labels import BinaryClassification, MultiLabelClassification
from hsvit_keras.tasks.regression import Regression
from hsvit_keras.tasks.segmentation import Segmentation
from hsvit_keras.tasks.task import Task
from hsvit_keras.tasks.video_classification import VideoClassification
from hsvit_runtime.errors import InputError
from hsvit_runtime.measure import Measure

_ALL = (
    Task(),
    Classification(),
    Segmentation(),
    Detection(),
    DenseDetection(),
    VideoClassification(),
    BinaryClassification(),
    MultiLabelClassification(),
    Regression(),
)
TASKS = {task.name: task for task in _ALL}
# Keras' names of the losses that say what linear outputs are.
_LOSSES_OF_NUMBERS = (
    "mean_squared_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_logarithmic_error",
    "huber_loss",
    "huber",
    "log_cosh",
)

__all__ = [
    "TASKS",
    "BinaryClassification",
    "Classification",
    "DenseDetection",
    "Detection",
    "Measure",
    "MultiLabelClassification",
    "Regression",
    "Segmentation",
    "Task",
    "VideoClassification",
    "task_named",
    "task_of",
]


def task_named(name):
    """The task of a name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in TASKS:
        raise InputError(f"there is no task {name!r}; there are {', '.join(TASKS)}")
    return TASKS[name]


def task_of(description, output_shapes, activation=None, loss=None):
    """The task of a model.

    Args:
        description: `hsvit_runtime.description.Description`.
        output_shapes: list of tuples, the batch first.
        activation: str, the last of the model's activations, such as "sigmoid"; None where it is not known.
        loss: str, Keras' name of the loss that it was compiled with; None without.

    Returns:
        The task that the model says. Else that of its one output (batch, count), if it has one: yes or no by
        a sigmoid; numbers where the loss says so, or where the only one is linear; else classes, two or more.
        Else the task that knows tensors only.
    """
    if description.task is not None:
        return task_named(description.task)
    if len(output_shapes) != 1 or len(output_shapes[0]) != 2:
        return TASKS["tensors"]
    single = output_shapes[0][1] == 1
    if activation == "sigmoid" or (activation == "linear" and loss == "binary_crossentropy"):
        return TASKS["binary_classification" if single else "multi_label_classification"]
    if (loss in _LOSSES_OF_NUMBERS and activation != "softmax") or (single and activation == "linear"):
        return TASKS["regression"]
    return TASKS["classification" if (output_shapes[0][1] or 0) > 1 else "tensors"]
