"""Simulates latency and accuracy for many numbers of nodes, networks, losses and deadlines."""

import itertools

import numpy as np

from command_line import tables
from export.simulation.cluster import Setting, simulate


def sweep(shards, accuracies, networks, losses, deadlines, *, per_second, slowness, images, seed, progress):
    """Simulates each combination.

    Args:
        shards: dict, as `python -m export.shards --num_shards=1,2,4` writes it; each shard gets a node.
        accuracies: list with a dict for each model, from the number of groups that arrive to its accuracy.
        networks: dict from name to `network.Network`.
        losses: list of float.
        deadlines: list of float, ms.
        per_second: float, images that arrive at random times.
        slowness: float, how many times slower a node is than the machine that timed the shards.
        images: int, for each combination.
        seed: int.
        progress: function (combinations done, combinations in all).

    Returns:
        list of dicts: `network`, `nodes`, `loss`, `deadline_ms`; `p50`, `p90` and `p99` of the latency in ms;
        `complete`, the share of images for which all groups arrived in time; `unanswered`, the share for
        which none did; `groups`, their mean number; `accuracies`, a list with that of each model, where an
        image without any groups counts as wrong.
    """
    combinations = list(itertools.product(networks, shards["rows"], losses, deadlines))
    rows = []
    for name, row, loss, deadline in combinations:
        groups = [len(part) for part in np.array_split(np.arange(shards["num_groups"]), row["shards"])]
        setting = Setting(
            shard_ms=[slowness * np.asarray(row["samples_ms"])] * row["shards"],
            groups=groups,
            network=networks[name],
            image_bytes=shards["image_bytes"],
            group_bytes=shards["group_bytes"],
            deadline_ms=deadline,
            loss=loss,
            per_second=per_second,
        )
        outcome = simulate(setting, images, seed)
        case = {"network": name, "nodes": row["shards"], "loss": loss, "deadline_ms": deadline}
        rows.append({**case, **_summary(outcome, shards["num_groups"], accuracies)})
        progress(len(rows), len(combinations))
    return rows


def _summary(outcome, num_groups, accuracies):
    percentiles = np.percentile(outcome.latency_ms, (50, 90, 99))
    return {
        **{f"p{q}": float(value) for q, value in zip((50, 90, 99), percentiles, strict=True)},
        "complete": float(np.mean(outcome.groups == num_groups)),
        "unanswered": float(np.mean(outcome.groups == 0)),
        "groups": float(np.mean(outcome.groups)),
        "accuracies": [_accuracy(by_groups, outcome.groups) for by_groups in accuracies],
    }


def _accuracy(by_groups, groups):
    by_groups = {0: 0.0, **by_groups}
    return float(np.mean([by_groups[number] for number in groups.tolist()]))


def table(rows):
    """The rows of `sweep` as text."""
    accuracies = ["accuracy"] * len(rows[0]["accuracies"])
    percentiles = ("p50", "p90", "p99")
    return tables.table(
        [
            "network",
            "nodes",
            "loss",
            "deadline",
            *(f"{key} ms" for key in percentiles),
            "all",
            "none",
            *accuracies,
        ],
        [
            [
                row["network"],
                row["nodes"],
                f"{row['loss']:.1%}",
                f"{row['deadline_ms']:g}",
                *(f"{row[key]:.2f}" for key in percentiles),
                f"{row['complete']:.1%}",
                f"{row['unanswered']:.1%}",
                *(f"{accuracy:.2%}" for accuracy in row["accuracies"]),
            ]
            for row in rows
        ],
    )
