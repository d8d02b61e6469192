"""The files that a simulation reads: times of shards, accuracy with some of the groups, runs of a service."""

import json
import pathlib

from hsvit_runtime.errors import InputError


def read(path, key):
    """A JSON file with `key` and `rows`.

    Raises:
        InputError: the file holds something else.
        OSError: it cannot be read.
    """
    try:
        content = json.loads(pathlib.Path(path).read_text())
        if key in content and "rows" in content:
            return content
    except (ValueError, TypeError):
        pass
    raise InputError(f"{path} is not what this needs: a JSON object with {key!r} and 'rows'")


def read_shards_and_subsets(shards_path, subsets_path):
    """What `export.shards` and `export.subsets` wrote of models with the same number of groups.

    Returns:
        (dict of `export.shards`; for each model of `export.subsets` a dict from the number of groups to the
        mean accuracy; list of the models' manifests).

    Raises:
        InputError: a file holds something else, or the numbers of groups differ.
        OSError: a file cannot be read.
    """
    shards, subsets = read(shards_path, "num_groups"), read(subsets_path, "manifests")
    sizes = {row["groups"] for row in subsets["rows"]}
    if sizes != set(range(1, shards["num_groups"] + 1)):
        raise InputError(
            f"{subsets_path} is about {max(sizes)} groups, {shards_path} about {shards['num_groups']}: "
            "both have to be of models with the same number of groups"
        )
    accuracies = [
        {row["groups"]: row["accuracies"][model]["mean"] for row in subsets["rows"]}
        for model in range(len(subsets["manifests"]))
    ]
    return shards, accuracies, subsets["manifests"]


def labels_of(paths):
    """The parts in which paths differ, as text to put behind something else; empty for a single path."""
    parts = [pathlib.Path(path).parts for path in paths]
    if len({len(each) for each in parts}) > 1:
        return [f", {path}" for path in paths]
    differing = [level for level in range(len(parts[0])) if len({each[level] for each in parts}) > 1]
    return ["".join(f", {each[level]}" for level in differing) for each in parts]
