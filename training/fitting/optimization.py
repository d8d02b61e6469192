"""The optimizer of a config: its learning rate at each step or epoch, what decays, and averaged weights."""

import contextlib
import math

import keras

from hsvit_keras.compression.graph import Graph
from hsvit_keras.fine_tuning import depths
from training.fitting.scaled_rates import ScaledAdam, ScaledAdamW, ScaledSGD

# Each with one learning rate, and with one for each depth.
_OPTIMIZERS = {
    "adamw": (keras.optimizers.AdamW, ScaledAdamW),
    "adam": (keras.optimizers.Adam, ScaledAdam),
    "sgd": (keras.optimizers.SGD, ScaledSGD),
}
# Biases, normalizations, positions and tokens, by the names of their weights in Keras and in our layers.
_NOT_DECAYED = ("bias", "beta", "class_token", "gamma", "position", "position_bias")


def build_optimizer(model, values, steps, epoch=0):
    """Makes the optimizer of a config, with its variables.

    Args:
        model: `keras.Model` or `Distiller` to be trained.
        values: plain config.
        steps: int, steps in an epoch.
        epoch: int, the first one that it is for, from 0 on; the learning rate is that of this epoch.

    Returns:
        `keras.optimizers.Optimizer`. Where the learning rate changes by the epoch, it is set by `callbacks`.
    """
    own = (
        {"momentum": values["momentum"], "nesterov": values["nesterov"]}
        if values["optimizer"] == "sgd"
        else {"epsilon": values["epsilon"]}
    )
    if values["ema_momentum"] is not None:
        own |= {"use_ema": True, "ema_momentum": values["ema_momentum"]}
    optimizer_class, scaled_class = _OPTIMIZERS[values["optimizer"]]
    if values["layer_decay"] != 1:
        optimizer_class = scaled_class
        own["scales"] = _scales(model, values["layer_decay"])
    optimizer = optimizer_class(
        _rate_of_steps(values, steps, epoch)
        if values["schedule"] == "cosine"
        else rate_of_epoch(values, epoch),
        weight_decay=values["weight_decay"],
        global_clipnorm=values["clip_norm"],
        **own,
    )
    if values["decay_kernels_only"]:
        optimizer.exclude_from_weight_decay(
            var_list=[variable for variable in model.trainable_variables if not _is_kernel(variable)]
        )
    if values["dtype"] == "mixed_float16":  # small gradients would vanish
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    optimizer.build(model.trainable_variables)
    return optimizer


def rate_of_epoch(values, epoch):
    """The learning rate of a whole epoch, where the schedule is by the epoch.

    In warm-up it rises in equal steps from the warm-up learning rate. Behind it is a cosine that began with
    the first epoch, or the learning rate times `decay_factor` for each of `decay_epochs` that has passed.

    Args:
        values: plain config.
        epoch: int, from 0 on.

    Returns:
        float.
    """
    highest, lowest, start = (
        values[name] for name in ("learning_rate", "min_learning_rate", "warmup_learning_rate")
    )
    if epoch < values["warmup_epochs"]:
        return start + (highest - start) * epoch / values["warmup_epochs"]
    if values["schedule"] == "step_decay":
        return highest * values["decay_factor"] ** sum(epoch >= at for at in values["decay_epochs"])
    return lowest + (highest - lowest) * (1 + math.cos(math.pi * epoch / values["epochs"])) / 2


def callbacks(values):
    """What `fit` needs beside the optimizer: list of `keras.callbacks.Callback`, to be called last."""
    needed = []
    if values["schedule"] != "cosine":
        needed.append(keras.callbacks.LearningRateScheduler(lambda epoch, _: rate_of_epoch(values, epoch)))
    if values["ema_momentum"] is not None:
        needed.append(ValidateAverage())
    return needed


@contextlib.contextmanager
def averaged(optimizer):
    """The trained variables hold their averages within the block, and what they held behind it."""
    with contextlib.ExitStack() as stack:
        if _inner(optimizer).use_ema:
            _swap(optimizer)
            stack.callback(_swap, optimizer)
        yield


class ValidateAverage(keras.callbacks.Callback):
    """Validates the averaged weights.

    Keras' `SwapEMAWeights` swaps by sums and differences on TensorFlow, which round.
    """

    def on_test_begin(self, logs=None):
        _swap(self.model.optimizer)

    def on_test_end(self, logs=None):
        _swap(self.model.optimizer)


@keras.saving.register_keras_serializable("hsvit_training")
class Later(keras.optimizers.schedules.LearningRateSchedule):
    """A schedule from one of its steps on.

    Args:
        schedule: `keras.optimizers.schedules.LearningRateSchedule`.
        begin: int, the step of it that is the first one here.
    """

    def __init__(self, schedule, begin):
        super().__init__()
        self.schedule, self.begin = schedule, begin

    def __call__(self, step):
        return self.schedule(step + self.begin)

    def get_config(self):
        return {"schedule": keras.saving.serialize_keras_object(self.schedule), "begin": self.begin}

    @classmethod
    def from_config(cls, config):
        return cls(keras.saving.deserialize_keras_object(config["schedule"]), config["begin"])


def _rate_of_steps(values, steps, epoch):
    """A cosine that begins behind a warm-up in a line, in each step its own rate."""
    warmup = values["warmup_epochs"] * steps
    cosine = keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=values["warmup_learning_rate"] if warmup else values["learning_rate"],
        decay_steps=values["epochs"] * steps - warmup,
        alpha=values["min_learning_rate"] / values["learning_rate"],
        warmup_target=values["learning_rate"] if warmup else None,
        warmup_steps=warmup,
    )
    return Later(cosine, epoch * steps) if epoch else cosine


def _scales(model, decay):
    """Of each trained variable, its share of the learning rate: decay ** (the depth of the head - its own).

    The layer-wise decay of BEiT (https://arxiv.org/abs/2106.08254); what is no part of the model, such as
    the projections of a distiller, has the whole rate.
    """
    model_itself = getattr(model, "student", model)
    depth_of = depths(model_itself)
    top, graph = max(depth_of.values()), Graph(model_itself)
    scales = {
        id(variable): decay ** (top - depth_of[graph.path(layer)])
        for layer in graph.layers
        for variable in layer.trainable_variables
    }
    return [scales.get(id(variable), 1.0) for variable in model.trainable_variables]


def _is_kernel(variable):
    return len(variable.shape) > 1 and variable.name not in _NOT_DECAYED


def _inner(optimizer):
    return getattr(optimizer, "inner_optimizer", optimizer)  # of one that scales the loss


def _swap(optimizer):
    optimizer = _inner(optimizer)
    averages = optimizer._model_variables_moving_average
    for variable, average in zip(optimizer._trainable_variables, averages, strict=True):
        held = keras.ops.copy(variable)
        variable.assign(average)
        average.assign(held)
