"""How far chance moves a task's metric: which samples the test part happens to hold."""

import numpy as np

from hsvit_runtime.errors import InputError

_GROUPS = 100


def standard_error(task, outputs, labels, groups=_GROUPS):
    """The standard error of a task's metric, by the jackknife over groups of samples, for any metric.

    The metric is computed without each group in turn. Where each sample is a group and the metric is a mean,
    that is the textbook's error of a mean.

    Args:
        task: `hsvit_keras.tasks.Task` with a metric.
        outputs: dict from name to array (count, ...).
        labels: array (count, ...).
        groups: int, at most how many groups.

    Returns:
        float, in the metric's unit.

    Raises:
        InputError: there are fewer than two samples.
    """
    labels = np.asarray(labels)
    count = len(labels)
    if count < 2:
        raise InputError(f"a standard error needs at least two samples; received {count}")
    groups = min(groups, count)
    # Samples come in rounds over the classes, so that groups by counting would be of one class each.
    group_of = np.random.default_rng(0).permutation(count) % groups
    values = []
    for group in range(groups):
        left = group_of != group
        kept = {name: output[left] for name, output in outputs.items()}
        values.append(task.evaluate(kept, labels[left])[task.metric.name])
    return float(np.sqrt((groups - 1) * np.var(values)))
