"""Magnitude pruning by a callback: small weights are set to zero while a model trains.

The callback holds the masks; the model gets no wrappers and no variables. Its kernels are masked after each
batch, so that the pruned weights are zero at the start of every step and in every saved file.
"""

import keras

from hsvit_keras.compression.kernels import kernels
from hsvit_keras.compression.masks import MOfNPattern, pattern_of
from hsvit_keras.compression.sparsity import as_text, sparsity_report
from hsvit_runtime.errors import InputError

_LAST_STEP = 2**30  # every schedule has reached its final sparsity by then


def prune(model, schedule, *, pattern="weight", scope="layer", skip=()):
    """Makes a callback that prunes a model by the magnitude of its weights while it trains.

    Zeros make the zipped file smaller, but inference on phones no faster; `slim` does both.

    The schedule counts the optimizer's steps, as schedules of the learning rate do, so a run that is resumed
    from a saved model continues pruning. Zeros that a kernel already has stay zero until the schedule asks
    for new masks. In the list of callbacks, put this one before those that save the model.

    Args:
        model: built `keras.Model`. The kernels of `Dense` and `EinsumDense` layers and of all but depthwise
            convolutions are pruned, also those of a model in quantization-aware training.
        schedule: `ConstantSparsity`, `PolynomialDecay`, a schedule of tensorflow-model-optimization, or
            another function from the step (int) to `(should_prune, sparsity)`. None keeps the zeros that
            the kernels have and adds none.
        pattern: "weight" for single weights; a block `(rows, columns)` of inputs and outputs; or "m:n",
            such as "2:4", for at most m nonzero weights among every n consecutive inputs. Kernels smaller
            than a block or n inputs are not pruned.
        scope: "layer" for the same sparsity in each layer; "global" for one threshold over all layers, on
            magnitudes relative to those of the layer (LAMP, https://arxiv.org/abs/2010.07611).
        skip: list of str, names of layers not to prune, nor the layers inside of them.

    Returns:
        A `keras.callbacks.Callback` for `fit` of this model. At the end of training it prints the sparsity
        and the zipped size, unless `verbose=0`; `sparsity_report` returns the same numbers.

    Raises:
        InputError: an argument is out of its range or does not fit the model, or no kernel is left to prune.
        TypeError: `schedule` is not a function from the step to `(should_prune, sparsity)`.
    """
    return _Pruning(model, schedule, pattern, scope, [skip] if isinstance(skip, str) else skip)


class _Pruning(keras.callbacks.Callback):
    """The callback of `prune`; arguments as there, with `skip` as a list."""

    def __init__(self, model, schedule, pattern, scope, skip):
        super().__init__()
        self._target, self._schedule = model, schedule
        self._pattern = pattern_of(pattern, scope)
        self._kernels = _prunable_kernels(model, self._pattern, pattern, skip)
        if schedule is not None:
            _check_final_sparsity(self._scheduled(_LAST_STEP)[1], self._pattern, pattern)

    def on_train_begin(self, logs=None):
        trained = {id(variable) for variable in self.model.variables}
        # fit may run on a model that contains the one to prune, or on another model over its layers
        if not trained.issuperset(id(kernel.variable) for kernel in self._kernels):
            raise InputError(
                f"this callback was made to prune {self._target.name!r}, but fit runs on another model, "
                f"{self.model.name!r}: call prune(model, ...) with that one"
            )
        self._masks = [_mask_of_zeros(kernel) for kernel in self._kernels]
        self._step = _steps_done(self.model.optimizer)
        self._update_masks(range(self._step, self._step + 1))

    def on_epoch_begin(self, epoch, logs=None):
        self._step = self._start = _steps_done(self.model.optimizer)

    def on_train_batch_end(self, batch, logs=None):
        # Reading the optimizer's step would wait for the accelerator in each batch, so steps are counted
        # here. On JAX, `self.model` copies the results of the step into the variables.
        step = self._start + (batch + 1) // _batches_per_step(self.model.optimizer)
        self._update_masks(range(self._step + 1, step + 1))
        self._step = step

    def on_train_end(self, logs=None):
        self._apply_masks()  # the optimizer may have replaced the weights by their moving averages
        if self.params.get("verbose"):
            print(as_text(sparsity_report(self.model)))

    def _update_masks(self, steps):
        """Computes new masks if the schedule prunes at one of `steps`, and applies the current masks."""
        sparsities = [sparsity for should_prune, sparsity in map(self._scheduled, steps) if should_prune]
        if sparsities:
            matrices = [kernel.read() for kernel in self._kernels]
            masks = self._pattern.masks(matrices, sparsities[-1])
            self._masks = [
                keras.ops.convert_to_tensor(kernel.to_variable_shape(mask))
                for kernel, mask in zip(self._kernels, masks, strict=True)
            ]
        self._apply_masks()

    def _apply_masks(self):
        for kernel, mask in zip(self._kernels, self._masks, strict=True):
            if mask is not None:
                kernel.apply_mask(mask)

    def _scheduled(self, step):
        """(should_prune, sparsity) of the schedule at a step."""
        if self._schedule is None:
            return False, 0.0
        result = self._schedule(step) if callable(self._schedule) else None
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(
                "schedule has to be a function from the step to (should_prune, sparsity), such as "
                f"ConstantSparsity(0.5, begin_step=0); received {self._schedule!r}"
            )
        should_prune, sparsity = bool(result[0]), float(result[1])
        if not 0 <= sparsity < 1:
            raise InputError(
                f"a sparsity has to be at least 0 and less than 1; the schedule returned {sparsity} at step "
                f"{step}"
            )
        return should_prune, sparsity


def _prunable_kernels(model, mask_pattern, pattern, skip):
    """The kernels that `mask_pattern` fits; `pattern` is the argument of `prune`, for messages."""
    found = kernels(model, skip)
    if not found:
        raise InputError(
            f"{model.name!r} has nothing to prune: no kernel of a convolution, Dense or EinsumDense layer"
            + (f" except those of skip={list(skip)}" if skip else "")
        )
    fitting = [kernel for kernel in found if mask_pattern.fits(*kernel.shape[1:])]
    if not fitting:
        sizes = sorted({kernel.shape[1:] for kernel in found})
        raise InputError(
            f"pattern {pattern!r} fits no kernel of {model.name!r}, whose sizes (inputs, outputs) are {sizes}"
        )
    return fitting


def _check_final_sparsity(sparsity, mask_pattern, pattern):
    if isinstance(mask_pattern, MOfNPattern) and abs(sparsity - mask_pattern.sparsity) > 1e-6:
        raise InputError(
            f"pattern {pattern!r} has a sparsity of {mask_pattern.sparsity}, where the schedule has to end; "
            f"it ends at {sparsity}"
        )


def _mask_of_zeros(kernel):
    """The mask that keeps a kernel's zeros; None if it has none, or if it is zero as a whole.

    A kernel of nothing but zeros was initialized so and still has to be trained.
    """
    weights = keras.ops.convert_to_numpy(kernel.variable)
    return keras.ops.convert_to_tensor(weights != 0) if weights.any() and not weights.all() else None


def _steps_done(optimizer):
    return int(keras.ops.convert_to_numpy(optimizer.iterations))


def _batches_per_step(optimizer):
    inner = getattr(optimizer, "inner_optimizer", optimizer)  # LossScaleOptimizer wraps another optimizer
    return inner.gradient_accumulation_steps or 1
