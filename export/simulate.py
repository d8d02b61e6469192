"""What a model in shards would do on many devices: latency and accuracy by nodes, network, loss, deadline.

    python -m export.simulate --shards=DIR/shards.json --subsets=subsets.json --output=simulation.json
    python -m export.simulate --served=serve1.json,serve2.json,serve4.json --output=check.json

The first simulates from measured times of shards (`export.shards --num_shards=1,2,4,8,16`) and the measured
accuracy with some of the groups (`export.subsets`), and draws pictures beside its output. The second checks
the simulator against measured runs of a service (`export.serve --bench`).
"""

import importlib.util
import json
import pathlib

from absl import flags

from command_line import commands
from hsvit_runtime import files
from hsvit_runtime.errors import InputError, MissingPackageError

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("shards", None, "shards.json of python -m export.shards; its numbers are the nodes.")
    flags.DEFINE_string("subsets", None, "JSON file of python -m export.subsets, of as many groups.")
    flags.DEFINE_list("served", [], "JSON files of python -m export.serve --bench, to check against.")
    flags.DEFINE_string("networks", None, "JSON file of networks; Ethernet, Wi-Fi and 5G by default.")
    flags.DEFINE_list("loss", ["0", "0.01", "0.05", "0.2"], "Shares of messages that are lost.")
    flags.DEFINE_list("deadline_ms", ["5", "20", "50"], "How long an answer waits for nodes.")
    flags.DEFINE_float("per_second", 4.0, "Images a second, at random times.", lower_bound=1e-3)
    flags.DEFINE_float(
        "slowness", 1.0, "How many times slower a node is than the machine that timed the shards.",
        lower_bound=1e-3,
    )  # fmt: skip
    flags.DEFINE_integer("images", 1000, "Images in each simulation.", lower_bound=1)
    flags.DEFINE_integer("seed", 0, "Decides all chances.", lower_bound=0)
    flags.DEFINE_string("output", "simulation.json", "JSON file to write; pictures get its name.")


def main(_):
    _check_simpy()
    output = pathlib.Path(FLAGS.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    if FLAGS.served:
        report = _check()
    elif FLAGS.shards and FLAGS.subsets:
        report = _sweep(output)
    else:
        raise InputError("needs --shards and --subsets to simulate, or --served to check the simulator")
    files.write_json(output, {"images": FLAGS.images, "seed": FLAGS.seed, **report})
    print(f"wrote {FLAGS.output}")


def _check_simpy():
    if importlib.util.find_spec("simpy") is None:
        raise MissingPackageError("simulating needs SimPy: pip install 'hsvit-keras[horizontal]'")


def _check():
    from export.simulation import prediction

    rows = prediction.predict([_read(path, "num_nodes") for path in FLAGS.served], FLAGS.images, FLAGS.seed)
    print("measured (predicted)")
    print(prediction.table(rows))
    return {"served": FLAGS.served, "rows": rows}


def _sweep(output):
    from export.simulation import network, plots, sweep

    shards, subsets = _read(FLAGS.shards, "num_groups"), _read(FLAGS.subsets, "manifests")
    sizes = {row["groups"] for row in subsets["rows"]}
    if sizes != set(range(1, shards["num_groups"] + 1)):
        raise InputError(
            f"{FLAGS.subsets} is about {max(sizes)} groups, {FLAGS.shards} about {shards['num_groups']}: "
            "both have to be of models alike"
        )
    losses = [_share(text) for text in FLAGS.loss]
    settings = {
        "deadlines": [_positive("deadline_ms", text) for text in FLAGS.deadline_ms],
        "per_second": FLAGS.per_second,
        "slowness": FLAGS.slowness,
    }
    accuracies = [
        {row["groups"]: row["accuracies"][model]["mean"] for row in subsets["rows"]}
        for model in range(len(subsets["manifests"]))
    ]
    rows = sweep.sweep(
        shards, accuracies, network.read(FLAGS.networks), losses, **settings, images=FLAGS.images,
        seed=FLAGS.seed, progress=lambda done, total: commands.show_progress("simulation", done, total),
    )  # fmt: skip
    print(sweep.table(rows))
    labels = _apart(subsets["manifests"])
    plots.draw_latency(rows, output.with_name(f"{output.stem}_latency.png"))
    plots.draw_accuracy(rows, labels, output.with_name(f"{output.stem}_accuracy.png"))
    return {**settings, "models": subsets["manifests"], "rows": rows}


def _apart(paths):
    """What tells paths from each other, to write behind something else; nothing for a single one."""
    parts = [pathlib.Path(path).parts for path in paths]
    if len({len(some) for some in parts}) > 1:
        return [f", {path}" for path in paths]
    differing = [level for level in range(len(parts[0])) if len({some[level] for some in parts}) > 1]
    return ["".join(f", {some[level]}" for level in differing) for some in parts]


def _read(path, key):
    """A JSON file that has a key and rows."""
    try:
        content = json.loads(pathlib.Path(path).read_text())
        if key in content and "rows" in content:
            return content
    except (ValueError, TypeError):
        pass
    raise InputError(f"{path} is not what this needs: a JSON object with {key!r} and 'rows'")


def _share(text):
    value = _number("loss", text)
    if not 0 <= value < 1:
        raise InputError(f"--loss takes shares from 0 to below 1; received {text}")
    return value


def _positive(name, text):
    value = _number(name, text)
    if not value > 0:
        raise InputError(f"--{name} takes numbers above 0; received {text}")
    return value


def _number(name, text):
    return commands.numbers(name, [text])


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
