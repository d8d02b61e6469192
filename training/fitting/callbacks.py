"""Callbacks of a run: repeatable random numbers, a stop at NaN, a printed line and files for each epoch."""

import math
import sys
import time

import keras
import numpy as np

from hsvit_runtime.errors import InputError
from training.fitting.distribution import undistributed, whole
from training.fitting.seeds import draw_states, seed_states

# The data pipeline draws from (seed, 0, ...) and (seed, 1, ...).
_DROPOUT = 2


class EpochSeeds(keras.callbacks.Callback):
    """Makes dropout a function of (seed, epoch), so that a run that goes on draws what it would have.

    Args:
        seed: int.
    """

    def __init__(self, seed):
        super().__init__()
        self._seed = seed

    def on_epoch_begin(self, epoch, logs=None):
        states = seed_states(self.model)
        rng = np.random.default_rng((self._seed, _DROPOUT, epoch))
        for state, value in zip(states, draw_states(states, rng), strict=True):
            state.assign(value)


class StopAtNonFinite(keras.callbacks.Callback):
    """Raises `ValueError` as soon as the loss is not a finite number, before the epoch is recorded.

    A loss is checked one step late: waiting for it at once would leave an accelerator idle.

    Args:
        advice: str, the sentence after the message.
        workdir: folder with the files of the last finished epoch, which the message names if there is one.
    """

    def __init__(self, advice, workdir):
        super().__init__()
        self._advice = advice
        self._workdir = workdir

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch + 1
        self._pending = None

    def on_train_batch_end(self, batch, logs=None):
        self._check_pending()
        self._pending = batch + 1, logs["loss"]

    def on_test_begin(self, logs=None):
        self._check_pending()

    def on_epoch_end(self, epoch, logs=None):
        self._check("val_loss", logs["val_loss"], f"after epoch {self._epoch}")

    def _check_pending(self):
        if self._pending:
            step, loss = self._pending
            self._pending = None
            self._check("loss", loss, f"in epoch {self._epoch}, step {step}")

    def _check(self, name, value, where):
        if not math.isfinite(float(value)):
            left = f"; the files of epoch {self._epoch - 1} are in {self._workdir}" if self._epoch > 1 else ""
            raise InputError(f"{name} became {float(value)} {where}. {self._advice}{left}")


class EpochRecords(keras.callbacks.Callback):
    """Prints a line for each epoch and records its numbers; on a terminal, counts the steps.

    Args:
        run: `RunDirectory`.
        saved: `keras.Model` with the optimizer, from which the run can go on.
        best_model: function that gives the model to save if an epoch is the best so far; None saves none.
        epochs: int.
        steps: int, steps in an epoch.
        batch_size: int.
    """

    def __init__(self, run, saved, best_model, epochs, steps, batch_size):
        super().__init__()
        self._run = run
        self._saved = saved
        self._best_model = best_model
        self._epochs = epochs
        self._steps = steps
        self._batch_size = batch_size

    def on_epoch_begin(self, epoch, logs=None):
        self._label = f"epoch {epoch + 1:{len(str(self._epochs))}}/{self._epochs}"
        self._start = self._shown = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        now = time.perf_counter()
        if sys.stdout.isatty() and now - self._shown > 0.2:
            self._shown = now
            done = 24 * (batch + 1) // self._steps
            print(f"\r{self._label}  {'=' * done:24}  step {batch + 1}/{self._steps}", end="", flush=True)

    def on_test_begin(self, logs=None):
        self._trained = time.perf_counter() - self._start

    def on_epoch_end(self, epoch, logs=None):
        # What was measured in training, then on the validation part; the loss first.
        names = sorted(logs, key=lambda name: (name.startswith("val_"), not name.endswith("loss"), name))
        measured = {name: float(logs[name]) for name in names}
        row = {
            "epoch": epoch + 1,
            "step": (epoch + 1) * self._steps,
            **measured,
            # On JAX `self.model` brings what was learned into the variables, which other models share.
            "learning_rate": float(self.model.optimizer.learning_rate),
            "images_per_second": round(self._steps * self._batch_size / self._trained, 1),
            "seconds": round(time.perf_counter() - self._start, 3),
        }
        # Keras makes variables as it saves, in which the processes that do not save would have to take part.
        with whole([*self._saved.variables, *self.model.optimizer.variables]), undistributed():
            self._run.finish_epoch(self._saved, row, self._best_model)
        clear = "\r\033[K" if sys.stdout.isatty() else ""
        print(
            f"{clear}{self._label}  {'  '.join(f'{name} {value:.4f}' for name, value in measured.items())}  "
            f"{row['images_per_second']:,.0f} images/s  {row['seconds']:.1f} s",
            flush=True,
        )


class StopWhen(keras.callbacks.Callback):
    """Ends the training behind an epoch in which a function says so.

    Args:
        has_ended: function that takes nothing and gives a bool.
    """

    def __init__(self, has_ended):
        super().__init__()
        self._has_ended = has_ended

    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = self._has_ended()


class EpochClock(keras.callbacks.Callback):
    """Measures the seconds of an epoch without what `fit` does before it."""

    def on_epoch_begin(self, epoch, logs=None):
        self._start = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        float(logs["loss"])  # waits for it: JAX returns numbers before it has computed them
        self.seconds = time.perf_counter() - self._start
