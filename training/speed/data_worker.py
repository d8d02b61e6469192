"""One process of `training.data_throughput`: reads an epoch of JPEGs for each measurement."""

import json
import pathlib
import resource
import time

from absl import flags

from command_line import commands
from training.speed.turns import answer

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("job", None, "JSON of pipeline, folder and values, a plain config.", required=True)


def main(_):
    job = json.loads(FLAGS.job)
    folder, values = pathlib.Path(job["folder"]), job["values"]
    if job["pipeline"] == "torchvision":
        from training.speed import torchvision_pipeline

        read = torchvision_pipeline.epochs(folder / "train", values)
    else:
        commands.import_keras()
        read = _our_epochs(folder, values)
    read()  # so that everything is compiled, and the files are in memory
    answer({}, lambda: _measure(read))


def _our_epochs(folder, values):
    from training.fitting.data import Data

    data = Data(values, folder)
    # Batches made anew remember no image: each epoch decodes all of them.
    return lambda: sum(len(labels) for _, labels in data.train(epochs=1))


def _measure(read):
    start, start_of_cpu = time.perf_counter(), _cpu_seconds()
    count = read()
    return {
        "images_per_second": count / (time.perf_counter() - start),
        "images_per_cpu_second": count / (_cpu_seconds() - start_of_cpu),
    }


def _cpu_seconds():
    """Those of this process, and of its worker processes that have ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
