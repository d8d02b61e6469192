"""What each step of a compression does to a model before it is trained, and while it is."""

import inspect

from data_sets import sample_batches


def _finetune(model, task):
    return model, []


def _slim(
    model,
    task,
    *,
    groups=None,
    heads=None,
    mlp_units=None,
    kernels=None,
    blocks=None,
    score="weight",
    images=512,
):
    from hsvit_keras.compression import slim

    wishes = {"groups": groups, "heads": heads, "mlp_units": mlp_units, "kernels": kernels, "blocks": blocks}
    batches = task.sample(images) if score == "taylor" else None
    return slim(model, **wishes, score=score, batches=batches), []


def _prune(model, task, *, sparsity=0.5, pattern="weight", scope="layer", skip=()):
    from hsvit_keras.compression import PolynomialDecay, prune

    # New masks twenty times; the last third of the training goes on with those that are there.
    frequency = max(task.num_steps // 30, 1)
    end = frequency * (task.num_steps * 2 // 3 // frequency)
    schedule = PolynomialDecay(0.0, sparsity, begin_step=0, end_step=end, frequency=frequency)
    return model, [prune(model, schedule, pattern=pattern, scope=scope, skip=_names(skip))]


def _quantize(model, task, *, scheme="int8", skip=(), images=512):
    from hsvit_keras.compression import FreezeRanges, calibrate, quantize_aware

    model = calibrate(quantize_aware(model, scheme, _names(skip)), task.sample(images))
    return model, [FreezeRanges(task.epochs - task.epochs // 3)]


# Functions from a model, a `Task` and arguments to the model to train and callbacks for that.
STEPS = {"finetune": _finetune, "slim": _slim, "prune": _prune, "quantize": _quantize}


def arguments_of(name):
    """Names of the arguments of a step."""
    _, _, *arguments = inspect.signature(STEPS[name]).parameters
    return arguments


class Task:
    """What a step has to know of the training within it.

    Args:
        data: `fitting.Data`.
        values: plain config.

    Attributes:
        epochs: int.
        num_steps: int, steps of the optimizer in all epochs.
    """

    def __init__(self, data, values):
        self._data, self._values = data, values
        self.epochs = values["epochs"]
        self.num_steps = values["epochs"] * data.steps

    def sample(self, count):
        """Batches (images, labels) of some training images, spread over the classes."""
        preparation = {key: self._values[key] for key in ("image_shape", "mean", "std")}
        return sample_batches(self._data.train_set, count, **preparation)


def _names(skip):
    return [skip] if isinstance(skip, str) else list(skip)
