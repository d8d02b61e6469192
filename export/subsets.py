"""How accurate a model in shards is with only k of its groups, for k from all to one.

    python -m export.subsets --manifests=a/manifest.json,b/manifest.json --output=subsets.json

Several models stand side by side, such as one trained with group dropout and one without. For each k the same
random subsets of groups are drawn for all of them.
"""

from absl import flags

from command_line import bounded, commands, model_data
from data_sets import load_dataset
from export.serving import manifest, subsets
from hsvit_runtime import files, outputs

FLAGS = flags.FLAGS


def define_flags():
    bounded.names("manifests", None, "manifest.json files of python -m export.shards.", required=True)
    flags.DEFINE_string("output", "subsets.json", "JSON file to write.")
    flags.DEFINE_string("data", None, "Data set whose test part is used; by default the first model's own.")
    bounded.data_dir()
    bounded.samples("samples", 1000, "Images of it, at most.")
    bounded.integer("draws", 10, "Subsets for each number of groups, at most.", 1, 100_000)
    bounded.seed("Seed of the random choice of subsets.")


def main(_):
    outputs.check(FLAGS.output, outputs.json_with("manifests", "rows"), reads=FLAGS.manifests)
    models = [manifest.read(path) for path in FLAGS.manifests]
    data = model_data.data_set_of(models[0], FLAGS.data)
    dataset = load_dataset(data, "test", FLAGS.data_dir)
    report = {
        "data": data,
        "samples": min(FLAGS.samples, len(dataset)),
        "seed": FLAGS.seed,
        "manifests": FLAGS.manifests,
        "rows": subsets.compare(models, dataset, FLAGS.samples, FLAGS.draws, FLAGS.seed),
    }
    files.write_json(FLAGS.output, report)
    print(subsets.table(report))
    print(f"wrote {FLAGS.output}")


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
