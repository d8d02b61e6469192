"""A model that is trained on random images, to measure how fast that goes."""

import grain
import numpy as np

from hsvit_keras.tasks import task_named
from training.configs import hsvit_base
from training.fitting import callbacks, fit
from training.fitting.building import build_model

_CLASSES = tuple("0123456789")


class RandomTraining:
    """Trains one model again and again on one batch, by the pipeline that training uses.

    Args:
        model: str, name of a registered model.
        image_shape: (height, width, channels) in pixels.
        batch_size: int.
        dtype: dtype policy of the model.
        jit: bool, whether XLA compiles the step; None for what training does by default.
        arguments: dict of arguments of the model.

    Attributes:
        model: `keras.Model`.
    """

    def __init__(self, model, image_shape, batch_size, dtype, jit=None, arguments=None):
        values = {
            **hsvit_base.get_config().to_dict(),
            "model": model,
            "model_arguments": arguments or {},
            "data": None,  # none is read
            "image_shape": image_shape,
            "mean": 0.5,
            "std": 0.25,
            "epochs": 1,
            # As most recipes have it.
            "schedule": "cosine",
            "clip_norm": None,
            "dtype": dtype,
            "jit": jit,
        }
        self.model = build_model(values, _CLASSES)
        task = task_named("classification")
        fit.compile_model(self.model, values, task, num_classes=len(_CLASSES), steps=1000)
        rng = np.random.default_rng(0)
        images = rng.uniform(0, 255, size=(batch_size, *image_shape)).astype("float32")
        labels = np.eye(len(_CLASSES), dtype="float32")[rng.integers(len(_CLASSES), size=batch_size)]
        self._batch = images, labels

    def seconds_of(self, steps):
        """Trains some steps; gives the seconds that they took."""
        clock = callbacks.EpochClock()
        data = grain.MapDataset.range(steps).map(lambda _: self._batch).to_iter_dataset()
        self.model.fit(data, steps_per_epoch=steps, shuffle=False, verbose=0, callbacks=[clock])
        return clock.seconds
