"""Training that is broken off, as by a kill."""

import contextlib

import pytest

from training.fitting.callbacks import EpochRecords


class Killed(BaseException):
    """What nothing catches."""


@contextlib.contextmanager
def broken_off():
    """Breaks the training inside off in its second epoch, at the fourth batch."""
    step = EpochRecords.on_train_batch_end

    def break_off(self, batch, logs=None):
        step(self, batch, logs)
        if len(self._run.rows) == 1 and batch == 3:
            raise Killed

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(EpochRecords, "on_train_batch_end", break_off)
        yield
