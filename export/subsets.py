"""How right a model in shards is when only some of its groups answer: accuracy with k of them, k = all ... 1.

    python -m export.subsets --manifests=a/manifest.json,b/manifest.json --output=subsets.json

Several models stand side by side, such as one trained with group dropout and one without. For each k the same
random subsets of groups are drawn for all of them.
"""

import itertools
import math

import numpy as np
from absl import flags

from command_line import commands
from data_sets import load_dataset, sample_images
from export import tflite
from export.serving import manifest
from export.serving.joining import Head
from hsvit_runtime import files
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_list("manifests", None, "manifest.json files of python -m export.shards.", required=True)
    flags.DEFINE_string("output", "subsets.json", "JSON file to write.")
    flags.DEFINE_string("data", "digits", "Image set whose test part is classified.")
    flags.DEFINE_string("data_dir", None, "Folder of that image set.")
    flags.DEFINE_integer("samples", 1000, "How many of its images, at most.", lower_bound=1)
    flags.DEFINE_integer("draws", 10, "Subsets for each number of groups, at most.", lower_bound=1)
    flags.DEFINE_integer("seed", 0, "Decides which subsets.", lower_bound=0)


def main(_):
    models = [manifest.read(path) for path in FLAGS.manifests]
    dataset = load_dataset(FLAGS.data, "test", FLAGS.data_dir)
    report = {
        "data": FLAGS.data,
        "samples": min(FLAGS.samples, len(dataset)),
        "seed": FLAGS.seed,
        "manifests": FLAGS.manifests,
        "rows": compare(models, dataset, FLAGS.samples, FLAGS.draws, FLAGS.seed),
    }
    files.write_json(FLAGS.output, report)
    print(table(report))
    print(f"wrote {FLAGS.output}")


def compare(models, dataset, samples=1000, draws=10, seed=0):
    """The accuracy of models with each number of groups.

    Args:
        models: list of `manifest.Manifest`, all with the same number of groups.
        dataset: `training.data.ImageDataset`.
        samples: int, images of it at most.
        draws: int, random subsets for each number of groups; where there are no more, each subset counts.
        seed: int, decides which subsets.

    Returns:
        list of dicts, from all groups to one: `groups`, `subsets`, and `accuracies`, a dict of `mean`, `min`
        and `max` over the subsets for each model.

    Raises:
        ValueError: the models have different numbers of groups, or other classes than the images.
    """
    counts = {model.num_groups for model in models}
    if len(counts) != 1:
        raise InputError(f"models have to have the same number of groups, they have {sorted(counts)}")
    (num_groups,) = counts
    answered = [(*_class_tokens(model, dataset, samples), Head(model.head)) for model in models]
    rows = []
    for size in range(num_groups, 0, -1):
        subsets = choose(num_groups, size, draws, seed)
        accuracies = [
            [_accuracy(head, tokens[:, subset], labels) for subset in subsets]
            for tokens, labels, head in answered
        ]
        rows.append(
            {
                "groups": size,
                "subsets": len(subsets),
                "accuracies": [
                    {"mean": float(np.mean(values)), "min": min(values), "max": max(values)}
                    for values in accuracies
                ],
            }
        )
    return rows


def choose(num_groups, size, draws, seed):
    """Different subsets of the groups, drawn at random.

    Args:
        num_groups: int.
        size: int, groups in a subset.
        draws: int, how many subsets; fewer where there are no more.
        seed: int.

    Returns:
        list of lists of ints, each in order.
    """
    if math.comb(num_groups, size) <= draws:
        return [list(subset) for subset in itertools.combinations(range(num_groups), size)]
    rng, subsets = np.random.default_rng((seed, size)), set()
    while len(subsets) < draws:
        subsets.add(tuple(sorted(rng.choice(num_groups, size, replace=False).tolist())))
    return [list(subset) for subset in sorted(subsets)]


def _class_tokens(model, dataset, samples):
    """The class tokens (images, groups, dim) of all groups, and the labels (images,)."""
    if model.class_names and len(model.class_names) != len(dataset.class_names):
        raise InputError(
            f"{model.model} knows {len(model.class_names)} classes, {dataset.name} has "
            f"{len(dataset.class_names)}"
        )
    shape = model.input.shape[1:]
    pictures, labels = sample_images(
        dataset, min(samples, len(dataset)), image_shape=shape, mean=0.0, std=1.0
    )
    images = [model.input.prepare(image[np.newaxis]) for image in np.rint(255 * pictures).astype("uint8")]
    order = np.argsort(sum(model.groups, ()))
    parts = []
    for content in model.shards:
        run = tflite.runner(content)
        parts.append(np.concatenate([run(image) for image in images]))
    return np.concatenate(parts, axis=1)[:, order], labels


def _accuracy(head, tokens, labels):
    return float(np.mean([np.argmax(head(some)) for some in tokens] == labels))


def table(report):
    """The rows in lines: the mean accuracy and, where there are several subsets, the lowest and highest."""
    lines = [f"({number}) {path}" for number, path in enumerate(report["manifests"], 1)]
    titles = "".join(f"{f'({number})':>22}" for number in range(1, len(lines) + 1))
    lines.append(f"groups  subsets{titles}")
    for row in report["rows"]:
        cells = [
            f"{values['mean']:.1%} ({100 * values['min']:.1f}-{100 * values['max']:.1f})"
            if row["subsets"] > 1
            else f"{values['mean']:.1%}"
            for values in row["accuracies"]
        ]
        lines.append(f"{row['groups']:6} {row['subsets']:8}" + "".join(f"{cell:>22}" for cell in cells))
    return "\n".join(lines)


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
