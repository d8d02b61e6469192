"""What each step of a compression does to a model before it is trained, and while it is."""

from hsvit_keras.compression.schemes import SCHEMES
from hsvit_keras.compression.slimming.scores import SCORES
from hsvit_runtime.errors import InputError
from training.recipes.rules import Rule, choice, integer, is_integer, is_name, number


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
    slimmed = slim(model, **wanted, score=score, batches=batches)
    check_removed(model, slimmed, wanted)
    return slimmed, []


def check_removed(model, slimmed, wanted):
    """Raises `InputError` if a model is not smaller when it was slimmed with the arguments `wanted`."""
    if slimmed.count_params() == model.count_params():
        kept = ", ".join(f"{kind}={value}" for kind, value in wanted.items() if value is not None)
        raise InputError(f"step 'slim' removes nothing: {model.name} has no more parts than {kept} keeps")


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


def _is_kept(value):
    return is_integer(value, 1, _MANY) or (isinstance(value, float) and 0 < value <= 1)


def _are_kept(value):
    if isinstance(value, dict):  # of each layer
        return bool(value) and all(not isinstance(kept, dict) and _are_kept(kept) for kept in value.values())
    if isinstance(value, list):
        return bool(value) and all(is_name(part) or is_integer(part, 0, _MANY) for part in value)
    return _is_kept(value)


def _is_pattern(value):
    return is_name(value) or (
        isinstance(value, list) and len(value) == 2 and all(is_integer(side, 1, _MANY) for side in value)
    )


def _are_names(value):
    return is_name(value) or (isinstance(value, list) and all(map(is_name, value)))


_MANY = 10**6
_KEPT = Rule(
    "how many parts are kept, an integer of at least 1, or which share of them, a number above 0 and at most "
    "1.0, or a list of parts, or a table of these for each layer",
    _are_kept,
)
_LAYERS = Rule("the name of a layer, or a list of names", _are_names)
_IMAGES = integer(1, 10**9)
PARTS = {kind: _KEPT for kind in ("groups", "heads", "mlp_units", "kernels", "blocks")}
# What each argument of a step may be.
ARGUMENTS = {
    "finetune": {},
    "slim": {**PARTS, "score": choice(*SCORES), "images": _IMAGES},
    "prune": {
        "sparsity": number("above 0 and below 1", lambda value: 0 < value < 1),
        "pattern": Rule("'weight', a block of two integers, or a pattern such as '2:4'", _is_pattern),
        "scope": choice("layer", "global"),
        "skip": _LAYERS,
    },
    "quantize": {"scheme": choice(*SCHEMES), "skip": _LAYERS, "images": _IMAGES},
}


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
