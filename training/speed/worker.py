"""One process of `training.throughput`: trains one model on random images, a while for each line it reads.

It writes a line of JSON when it is ready, and one for each measurement.
"""

import json
import sys

from absl import flags

from command_line import commands

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string(
        "job", None, "JSON of model, backend, jit, image_shape, batch_size, dtype and seconds.", required=True
    )


def main(_):
    import numpy as np
    from ml_collections import ConfigDict

    from hsvit_keras.tasks import task_named
    from training.configs import hsvit_base
    from training.fitting import callbacks, fit
    from training.fitting.building import build_model
    from training.run_files import machine

    job, class_names = json.loads(FLAGS.job), tuple("0123456789")
    values = {
        **job,
        "model_arguments": {},
        "data": None,
        "mean": 0.5,
        "std": 0.25,
        "epochs": 1,
        "warmup_epochs": 0,
        "learning_rate": 1e-3,
        "weight_decay": 0.01,
        "label_smoothing": 0.0,
        **ConfigDict(hsvit_base.optimization()).to_dict(),
    }
    model = build_model(values, class_names)
    task = task_named("classification")
    fit.compile_model(model, values, task, num_classes=len(class_names), steps=1000)
    rng = np.random.default_rng(0)
    images = rng.uniform(0, 255, size=(job["batch_size"], *job["image_shape"])).astype("float32")
    labels = np.eye(len(class_names), dtype="float32")[rng.integers(len(class_names), size=len(images))]

    def seconds_of(steps):
        clock = callbacks.EpochClock()
        data = _repeated(images, labels, steps)
        model.fit(data, steps_per_epoch=steps, shuffle=False, verbose=0, callbacks=[clock])
        return clock.seconds

    first = seconds_of(1)
    warm = min(seconds_of(2) / 2 for _ in range(2))
    steps = max(1, round(job["seconds"] / warm))
    _write({"first_step_seconds": round(first, 2), "machine": machine.describe()})
    for _ in sys.stdin:
        _write({"images_per_second": round(steps * job["batch_size"] / seconds_of(steps), 2)})


def _repeated(images, labels, steps):
    """The same batch, by the pipeline that training uses."""
    import grain

    return grain.MapDataset.range(steps).map(lambda _: (images, labels)).to_iter_dataset()


def _write(content):
    print(json.dumps(content), flush=True)


if __name__ == "__main__":
    define_flags()
    commands.run(main)
