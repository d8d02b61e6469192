"""One process of `training.throughput`: trains one model on random images, a while for each measurement."""

import json

from absl import flags

from command_line import commands
from training.speed.turns import answer

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string(
        "job", None, "JSON of model, backend, jit, image_shape, batch_size, dtype and seconds.", required=True
    )


def main(_):
    from training.run_files import machine
    from training.speed.random_training import RandomTraining

    job = json.loads(FLAGS.job)
    training = RandomTraining(
        **{name: job[name] for name in ("model", "image_shape", "batch_size", "dtype", "jit")}
    )
    first = training.seconds_of(1)
    warm = min(training.seconds_of(2) / 2 for _ in range(2))
    steps = max(1, round(job["seconds"] / warm))
    answer(
        {"first_step_seconds": round(first, 2), "machine": machine.describe()},
        lambda: {"images_per_second": round(steps * job["batch_size"] / training.seconds_of(steps), 2)},
    )


if __name__ == "__main__":
    define_flags()
    commands.run(main)
