"""What each step of a compression does to a model before it is trained, and while it is."""

import inspect


def _finetune(model, training):
    return model, []


def _slim(
    model,
    training,
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

    wanted = {"groups": groups, "heads": heads, "mlp_units": mlp_units, "kernels": kernels, "blocks": blocks}
    batches = training.sample(images) if score == "taylor" else None
    return slim(model, **wanted, score=score, batches=batches), []


def _prune(model, training, *, sparsity=0.5, pattern="weight", scope="layer", skip=()):
    from hsvit_keras.compression import PolynomialDecay, prune

    # New masks twenty times, in the first two thirds of the training.
    frequency = max(training.num_steps // 30, 1)
    end = frequency * (training.num_steps * 2 // 3 // frequency)
    schedule = PolynomialDecay(0.0, sparsity, begin_step=0, end_step=end, frequency=frequency)
    return model, [prune(model, schedule, pattern=pattern, scope=scope, skip=_names(skip))]


def _quantize(model, training, *, scheme="int8", skip=(), images=512):
    from hsvit_keras.compression import FreezeRanges, calibrate, quantize_aware

    model = calibrate(quantize_aware(model, scheme, _names(skip)), training.sample(images))
    return model, [FreezeRanges(training.epochs - training.epochs // 3)]


# Functions from a model, a `Training` and arguments to the model to train and callbacks for that.
STEPS = {"finetune": _finetune, "slim": _slim, "prune": _prune, "quantize": _quantize}


def arguments_of(name):
    """Names of the arguments of a step."""
    _, _, *arguments = inspect.signature(STEPS[name]).parameters
    return arguments


class Training:
    """What a step has to know of the training within it.

    Args:
        data: `training.fitting.data.Data`.
        values: plain config.

    Attributes:
        epochs: int.
        num_steps: int, steps of the optimizer in all epochs.
        sample: function from a number of images to batches of that many training images and their labels.
    """

    def __init__(self, data, values):
        self.epochs = values["epochs"]
        self.num_steps = values["epochs"] * data.steps
        self.sample = data.sample


def _names(skip):
    return [skip] if isinstance(skip, str) else list(skip)
