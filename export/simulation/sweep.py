"""Latency and accuracy for many numbers of nodes, networks, losses and deadlines, from what was measured."""

import itertools

import numpy as np

from export.simulation.cluster import Setting, simulate


def sweep(shards, accuracies, networks, losses, deadlines, *, per_second, slowness, images, seed, progress):
    """Simulates each combination.

    Args:
        shards: dict, as `python -m export.shards --num_shards=1,2,4` writes it; a node for each shard.
        accuracies: list with, for each model, a dict from the number of groups that answer to its accuracy.
        networks: dict from name to `network.Network`.
        losses: list of float.
        deadlines: list of float, ms.
        per_second: float, images at random times.
        slowness: float, how much slower a node's core is than the one that shards were measured on.
        images: int, for each combination.
        seed: int.
        progress: function (combinations done, combinations in all).

    Returns:
        list of dicts: `network`, `nodes`, `loss`, `deadline_ms`; `p50`, `p90` and `p99` of the latency in ms;
        `complete`, the share of images that all groups answered; `unanswered`, the share that none did;
        `groups`, the mean number that answered; `accuracies`, a list with one for each model, for which an
        unanswered image counts as wrong.
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
        facts = {"network": name, "nodes": row["shards"], "loss": loss, "deadline_ms": deadline}
        rows.append({**facts, **_summary(outcome, shards["num_groups"], accuracies)})
        progress(len(rows), len(combinations))
    return rows


def _summary(outcome, num_groups, accuracies):
    percentiles = np.percentile(outcome.latency_ms, (50, 90, 99))
    return {
        **{f"p{q}": float(value) for q, value in zip((50, 90, 99), percentiles, strict=True)},
        "complete": float(np.mean(outcome.groups == num_groups)),
        "unanswered": float(np.mean(outcome.groups == 0)),
        "groups": float(np.mean(outcome.groups)),
        "accuracies": [_accuracy(known, outcome.groups) for known in accuracies],
    }


def _accuracy(known, groups):
    known = {0: 0.0, **known}
    return float(np.mean([known[number] for number in groups.tolist()]))


def table(rows):
    """The rows in lines."""
    latencies = f"{'p50 ms':>7} {'p90 ms':>7} {'p99 ms':>7}"
    lines = [f"{'network':10} nodes  loss deadline {latencies} {'all':>6} {'none':>6} accuracy"]
    for row in rows:
        lines.append(
            f"{row['network']:10} {row['nodes']:5} {row['loss']:5.1%} {row['deadline_ms']:8g} "
            f"{row['p50']:7.2f} {row['p90']:7.2f} {row['p99']:7.2f} {row['complete']:6.1%} "
            f"{row['unanswered']:6.1%} " + " ".join(f"{accuracy:8.2%}" for accuracy in row["accuracies"])
        )
    return "\n".join(lines)
