"""Simulates a model in shards on many devices: latency and accuracy by nodes, network, loss and deadline.

    python -m export.simulate --shards=DIR/shards.json --subsets=subsets.json --output=simulation.json
    python -m export.simulate --served=serve1.json,serve2.json,serve4.json --output=check.json

The first simulates from measured times of shards (`export.shards --num_shards=1,2,4,8,16`) and the measured
accuracy with some of the groups (`export.subsets`), and draws figures beside its output. The second checks
the simulation against measured runs of a service (`export.serve --bench`).
"""

import functools
import importlib.util
import pathlib

from absl import flags

from command_line import bounded, commands
from export.simulation import input_files
from hsvit_runtime import files, outputs
from hsvit_runtime.errors import InputError, MissingPackageError

FLAGS = flags.FLAGS
_OF_SWEEP = ("shards", "subsets", "networks", "loss", "deadline_ms", "per_second", "slowness")


def define_flags():
    flags.DEFINE_string("shards", None, "shards.json of python -m export.shards; as many nodes as shards.")
    flags.DEFINE_string("subsets", None, "JSON file of python -m export.subsets; the same number of groups.")
    bounded.names("served", [], "JSON files of python -m export.serve --bench, to compare with.")
    flags.DEFINE_string("networks", None, "JSON file of networks; Ethernet, Wi-Fi and 5G by default.")
    bounded.numbers("loss", [0, 0.01, 0.05, 0.2], "Shares of messages that are lost.", 0, 0.999)
    bounded.numbers("deadline_ms", [5, 20, 50], "How long a request waits for nodes.", 1e-3, 1e6)
    bounded.number("per_second", 4.0, "Images a second, at random times.", 1e-3, 1e6)
    bounded.number(
        "slowness", 1.0, "How many times slower a node is than the machine that timed the shards.", 1e-3, 1e6
    )
    bounded.integer("images", 1000, "Images in each simulation.", 1, bounded.MANY)
    bounded.seed("Seed of the random numbers.")
    flags.DEFINE_string("output", "simulation.json", "JSON file to write; figures get its name.")


def main(_):
    if importlib.util.find_spec("simpy") is None:
        raise MissingPackageError("simulating needs SimPy: pip install 'hsvit-keras[horizontal]'")
    output = pathlib.Path(FLAGS.output)
    with files.making_folder(output.parent):
        reads = [path for path in (*FLAGS.served, FLAGS.shards, FLAGS.subsets, FLAGS.networks) if path]
        outputs.check(output, outputs.json_with("images", "seed", "rows"), reads=reads)
        if FLAGS.served:
            commands.refuse_useless("with --served, whose files say it", *_OF_SWEEP)
            report = _compare_with_measured()
        elif FLAGS.shards and FLAGS.subsets:
            report = _sweep(output)
        else:
            raise InputError("needs --shards and --subsets to simulate, or --served to check the simulation")
        files.write_json(output, {"images": FLAGS.images, "seed": FLAGS.seed, **report})
        print(f"wrote {FLAGS.output}")


def _compare_with_measured():
    from export.simulation import prediction

    served = [input_files.read_served(path) for path in FLAGS.served]
    rows = prediction.predict(served, FLAGS.images, FLAGS.seed)
    print("measured (predicted)")
    print(prediction.table(rows))
    return {"served": FLAGS.served, "rows": rows}


def _sweep(output):
    from export.simulation import network, plots, sweep

    for name in ("latency", "accuracy"):
        outputs.check(_figure(output, name), outputs.PICTURE)
    shards, accuracies, models = input_files.read_shards_and_subsets(FLAGS.shards, FLAGS.subsets)
    settings = {
        "deadlines": FLAGS.deadline_ms,
        "per_second": FLAGS.per_second,
        "slowness": FLAGS.slowness,
    }
    rows = sweep.sweep(
        shards,
        accuracies,
        network.read(FLAGS.networks),
        FLAGS.loss,
        **settings,
        images=FLAGS.images,
        seed=FLAGS.seed,
        progress=functools.partial(commands.show_progress, "simulation"),
    )
    print(sweep.table(rows))
    plots.draw_latency(rows, _figure(output, "latency"))
    plots.draw_accuracy(rows, input_files.labels_of(models), _figure(output, "accuracy"))
    return {**settings, "models": models, "rows": rows}


def _figure(output, name):
    return output.with_name(f"{output.stem}_{name}.png")


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
