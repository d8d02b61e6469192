"""How accurate a model in shards is when only some of its groups arrive."""

import itertools
import math

import numpy as np

from command_line.tables import table as text_table
from data_sets import sample_images
from export.serving.head import Head
from hsvit_runtime.errors import InputError
from hsvit_runtime.tflite_model import TFLiteModel


def compare(models, dataset, samples=1000, draws=10, seed=0):
    """The accuracy of models with each number of groups.

    Args:
        models: list of `manifest.Manifest`, all with the same number of groups.
        dataset: `data_sets.ImageDataset`.
        samples: int, images of it at most.
        draws: int, random subsets for each number of groups; all subsets where there are no more.
        seed: int, of the random choice of subsets.

    Returns:
        list of dicts, from all groups to one: `groups`, `subsets`, and `accuracies`, a dict of `mean`, `min`
        and `max` over the subsets for each model.

    Raises:
        InputError: the models have different numbers of groups, or other classes than the images.
    """
    counts = {model.num_groups for model in models}
    if len(counts) != 1:
        raise InputError(f"models have to have the same number of groups, they have {sorted(counts)}")
    (num_groups,) = counts
    prepared = [(*_class_tokens(model, dataset, samples), Head(model.head)) for model in models]
    rows = []
    for size in range(num_groups, 0, -1):
        subsets = choose(num_groups, size, draws, seed)
        accuracies = [
            [_accuracy(head, tokens[:, subset], labels) for subset in subsets]
            for tokens, labels, head in prepared
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
    if model.class_names and model.class_names != tuple(dataset.class_names):
        classes = ", ".join(model.class_names)
        raise InputError(f"{model.model} has other classes than {dataset.name}: {classes}")
    inputs, labels = sample_images(
        dataset,
        min(samples, len(dataset)),
        image_shape=model.image_shape,
        input_range=model.input_range,
    )
    order = np.argsort(sum(model.groups, ()))
    parts = [TFLiteModel(content).predict_only(inputs) for content in model.shards]
    return np.concatenate(parts, axis=1)[:, order], labels


def _accuracy(head, tokens, labels):
    return float(np.mean([np.argmax(head(some)) for some in tokens] == labels))


def table(report):
    """The report as text: the mean accuracy and, where there are several subsets, the lowest and highest."""
    numbers = [f"({number})" for number in range(1, len(report["manifests"]) + 1)]
    rows = []
    for row in report["rows"]:
        cells = [
            f"{values['mean']:.1%} ({100 * values['min']:.1f}-{100 * values['max']:.1f})"
            if row["subsets"] > 1
            else f"{values['mean']:.1%}"
            for values in row["accuracies"]
        ]
        rows.append([row["groups"], row["subsets"], *cells])
    named = [f"{number} {path}" for number, path in zip(numbers, report["manifests"], strict=True)]
    return "\n".join([*named, text_table(["groups", "subsets", *numbers], rows)])
