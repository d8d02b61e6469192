"""Small weights set to zero while a model trains, by a callback that keeps masks beside the model.

The model stays as it is: no wrapper, no variable more. After each batch its kernels are masked, so that
every step starts from zeros and every saved file has them.
"""

import keras

from hsvit_keras.compression.kernels import kernels
from hsvit_keras.compression.masks import SomeOfEach, masking
from hsvit_keras.compression.sparsity import as_text, sparsity_report
from hsvit_runtime.errors import InputError

_LATE = 2**30  # a step by which every schedule has come to its end


def prune(model, schedule, *, pattern="weight", scope="layer", skip=()):
    """Prunes a model by the magnitude of its weights while it trains.

    Zeros make a zipped download smaller, but no phone faster; what `slim` removes does both.

    The steps of the schedule are those of the optimizer, as with schedules of the learning rate: a run
    that goes on from a saved model goes on pruning. Zeros that a kernel comes with are kept until the
    schedule asks for new masks. In the list of callbacks, put it in front of those that save the model.

    Args:
        model: built `keras.Model`. Kernels of convolutions (less depthwise ones), `Dense` and
            `EinsumDense` layers are pruned, and of their subclasses in quantization-aware training.
        schedule: `ConstantSparsity`, `PolynomialDecay`, one of tensorflow-model-optimization's, or
            another function from the step (int) to `(should_prune, sparsity)`. None keeps the zeros that
            are there and makes no more.
        pattern: "weight" for single weights; a block `(rows, columns)` of inputs and outputs; or "m:n",
            such as "2:4", for at most m weights other than zero in each n along the inputs. Kernels
            smaller than that stay whole.
        scope: "layer" for the same sparsity in each layer; "global" for a sparsity of each that comes from
            one threshold over all, on magnitudes relative to the layer (LAMP,
            https://arxiv.org/abs/2010.07611).
        skip: list of names of layers to leave whole, with all that is inside of them.

    Returns:
        A `keras.callbacks.Callback` for `fit` of this model. In the end it prints the sparsity and the
        zipped size, unless `verbose=0`; `sparsity_report` gives the same as data.

    Raises:
        ValueError: an argument is out of its range or does not fit the model, or nothing is left to prune.
        TypeError: `schedule` is no such function.
    """
    return _Pruning(model, schedule, pattern, scope, [skip] if isinstance(skip, str) else skip)


class _Pruning(keras.callbacks.Callback):
    def __init__(self, model, schedule, pattern, scope, skip):
        super().__init__()
        self._target, self._schedule = model, schedule
        self._masking = masking(pattern, scope)
        self._kernels = _fitting(model, self._masking, pattern, skip)
        if schedule is not None:
            _check_end(self._ask(_LATE)[1], self._masking, pattern)

    def on_train_begin(self, logs=None):
        if self._target not in self.model._flatten_layers():  # it may stand in one that trains it
            raise InputError(
                f"this callback was made to prune {self._target.name!r}, and fit runs on another model, "
                f"{self.model.name!r}: call prune(model, ...) with that one"
            )
        self._masks = [_mask_of_zeros(kernel) for kernel in self._kernels]
        self._step = _steps_done(self.model.optimizer)
        self._mask_after(range(self._step, self._step + 1))

    def on_epoch_begin(self, epoch, logs=None):
        self._step = self._start = _steps_done(self.model.optimizer)

    def on_train_batch_end(self, batch, logs=None):
        # The steps are counted here: to read their number would wait for an accelerator to finish.
        # `self.model` brings the results of the step into the variables, where JAX does not keep them.
        step = self._start + (batch + 1) // _batches_a_step(self.model.optimizer)
        self._mask_after(range(self._step + 1, step + 1))
        self._step = step

    def on_train_end(self, logs=None):
        self._apply()  # the optimizer may have put averaged weights in place of the last
        if self.params.get("verbose"):
            print(as_text(sparsity_report(self.model)))

    def _mask_after(self, steps):
        """Makes new masks if one of `steps` asks for them, and applies what there is."""
        asked = [sparsity for due, sparsity in map(self._ask, steps) if due]
        if asked:
            matrices = [kernel.read() for kernel in self._kernels]
            masks = self._masking.masks(matrices, asked[-1])
            self._masks = [
                keras.ops.convert_to_tensor(kernel.in_place(mask))
                for kernel, mask in zip(self._kernels, masks, strict=True)
            ]
        self._apply()

    def _apply(self):
        for kernel, mask in zip(self._kernels, self._masks, strict=True):
            if mask is not None:
                kernel.keep(mask)

    def _ask(self, step):
        """Whether to prune at a step, and the sparsity."""
        if self._schedule is None:
            return False, 0.0
        answer = self._schedule(step) if callable(self._schedule) else None
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise TypeError(
                "schedule has to be a function from the step to (should_prune, sparsity), such as "
                f"ConstantSparsity(0.5, begin_step=0); received {self._schedule!r}"
            )
        due, sparsity = bool(answer[0]), float(answer[1])
        if not 0 <= sparsity < 1:
            raise InputError(
                f"a sparsity is at least 0 and less than 1; the schedule gave {sparsity} at step {step}"
            )
        return due, sparsity


def _fitting(model, masking, pattern, skip):
    found = kernels(model, skip)
    if not found:
        raise InputError(
            f"{model.name!r} has nothing to prune: no kernel of a convolution, Dense or EinsumDense layer"
            + (f" besides those of skip={list(skip)}" if skip else "")
        )
    fitting = [kernel for kernel in found if masking.fits(*kernel.shape[1:])]
    if not fitting:
        sizes = sorted({kernel.shape[1:] for kernel in found})
        raise InputError(
            f"pattern {pattern!r} fits no kernel of {model.name!r}: as (inputs, outputs) they have {sizes}"
        )
    return fitting


def _check_end(sparsity, masking, pattern):
    if isinstance(masking, SomeOfEach) and abs(sparsity - masking.sparsity) > 1e-6:
        raise InputError(
            f"pattern {pattern!r} means a sparsity of {masking.sparsity}, to which the schedule has to come; "
            f"it ends at {sparsity}"
        )


def _mask_of_zeros(kernel):
    """Keeps the zeros of a kernel that comes with some; one of zeros alone has yet to be trained."""
    weights = keras.ops.convert_to_numpy(kernel.variable)
    return keras.ops.convert_to_tensor(weights != 0) if weights.any() and not weights.all() else None


def _steps_done(optimizer):
    return int(keras.ops.convert_to_numpy(optimizer.iterations))


def _batches_a_step(optimizer):
    inner = getattr(optimizer, "inner_optimizer", optimizer)  # in that of the loss scale
    return inner.gradient_accumulation_steps or 1
