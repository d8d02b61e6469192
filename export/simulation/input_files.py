"""The files that a simulation reads: times of shards, accuracy with some of the groups, runs of a service."""

import pathlib

from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import AMOUNT, SHARE, TEXT, array, count, record

SHARDS = record(
    num_groups=count(least=1),
    image_bytes=count(most=2**40),
    group_bytes=count(most=2**40),
    rows=array(record(shards=count(least=1), samples_ms=array(AMOUNT, least=1)), least=1),
)
SUBSETS = record(
    manifests=array(TEXT, least=1),
    rows=array(record(groups=count(least=1), accuracies=array(record(mean=SHARE))), least=1),
)
_SAMPLES = record(
    **{f"{part}_ms": array(AMOUNT, least=1) for part in ("latency", "service", "nodes", "shards")}
)
SERVED = record(
    num_nodes=count(least=1),
    deadline_ms=AMOUNT,
    rows=array(
        record(
            clients=count(least=1),
            latency_ms=record(p50=AMOUNT, p90=AMOUNT),
            per_second=AMOUNT,
            complete=SHARE,
            samples=_SAMPLES,
        ),
        least=1,
    ),
)


def read_served(path):
    """What `export.serve --bench` wrote; errors as those of `json_files.read`."""
    return json_files.read(path, SERVED, "report of export.serve --bench")


def read_shards_and_subsets(shards_path, subsets_path):
    """What `export.shards` and `export.subsets` wrote of models with the same number of groups.

    Returns:
        (dict of `export.shards`; for each model of `export.subsets` a dict from the number of groups to the
        mean accuracy; list of the models' manifests).

    Raises:
        InputError: a file holds something else, or the numbers of groups differ.
        OSError: a file cannot be read.
    """
    shards = json_files.read(shards_path, SHARDS, "report of export.shards")
    subsets = json_files.read(subsets_path, SUBSETS, "report of export.subsets")
    models = len(subsets["manifests"])
    if any(len(row["accuracies"]) != models for row in subsets["rows"]):
        raise InputError(f"{subsets_path} needs an accuracy of each of its {models} manifests in each row")
    if any(row["shards"] > shards["num_groups"] for row in shards["rows"]):
        raise InputError(f"{shards_path} has more shards than its {shards['num_groups']} groups")
    sizes = {row["groups"] for row in subsets["rows"]}
    if sizes != set(range(1, shards["num_groups"] + 1)):
        raise InputError(
            f"{subsets_path} is about {max(sizes)} groups, {shards_path} about {shards['num_groups']}: "
            "both have to be of models with the same number of groups"
        )
    accuracies = [
        {row["groups"]: row["accuracies"][model]["mean"] for row in subsets["rows"]}
        for model in range(models)
    ]
    return shards, accuracies, subsets["manifests"]


def labels_of(paths):
    """The parts in which paths differ, as text to put behind something else; empty for a single path."""
    parts = [pathlib.Path(path).parts for path in paths]
    if len({len(each) for each in parts}) > 1:
        return [f", {path}" for path in paths]
    differing = [level for level in range(len(parts[0])) if len({each[level] for each in parts}) > 1]
    return ["".join(f", {each[level]}" for level in differing) for each in parts]
