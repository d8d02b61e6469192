"""Does the simulator foretell what a service did? Calibrated on one measured run, it predicts the others.

Of the run of one node and one client it takes how long the shards took, what the call took beside them, what
the service took besides, and what HTTP took. A further node is a further call of the service's.
"""

import numpy as np

from export.simulation.cluster import Setting, simulate
from export.simulation.network import Network
from hsvit_runtime.errors import InputError

_NONE = Network(one_way_ms=0.0, spread=0.0, up_mbits=np.inf, down_mbits=np.inf)
COMPARED = ("p50", "p90", "per_second", "complete")


def predict(served, images=2000, seed=0):
    """Simulates each measured run.

    Args:
        served: list of dicts, as `python -m export.serve --bench` writes them, one with one node.
        images: int, how many to simulate for each.
        seed: int.

    Returns:
        list of dicts: `num_nodes`, `clients`, `calibration` (whether this is the run that was learned from),
        and `measured` and `predicted`, dicts of `p50` and `p90` in ms, `per_second` and `complete`.

    Raises:
        ValueError: there is no run of one node and one client, or a run lacks its samples.
    """
    runs = [(report, row) for report in served for row in report["rows"]]
    if any("samples" not in row for _, row in runs):
        raise InputError("a measured run has no samples: measure it anew by python -m export.serve --bench")
    of_one = [row for report, row in runs if (report["num_nodes"], row["clients"]) == (1, 1)]
    if not of_one:
        raise InputError("a run with --num_nodes=1 and one client is needed, which the others follow from")
    return [
        {
            "num_nodes": report["num_nodes"],
            "clients": row["clients"],
            "calibration": row is of_one[0],
            "measured": _measured(row),
            "predicted": _predicted(report, row["clients"], of_one[0]["samples"], images, seed),
        }
        for report, row in runs
    ]


def _measured(row):
    figures = {**row["latency_ms"], **row}
    return {key: figures[key] for key in COMPARED}


def _predicted(report, clients, samples, images, seed):
    latency, service, nodes, shards = (
        np.asarray(samples[f"{part}_ms"]) for part in ("latency", "service", "nodes", "shards")
    )
    num_nodes = report["num_nodes"]
    setting = Setting(
        shard_ms=[shards / num_nodes] * num_nodes,
        groups=[1] * num_nodes,
        network=_NONE,
        image_bytes=0,
        group_bytes=0,
        deadline_ms=report["deadline_ms"],
        door_ms=tuple(latency - service),
        front_ms=tuple(service - nodes),
        call_ms=tuple(nodes - shards),
        clients=clients,
    )
    outcome = simulate(setting, images, seed)
    classified = outcome.latency_ms[outcome.groups > 0]
    p50, p90 = np.percentile(classified, (50, 90))
    return {
        "p50": float(p50),
        "p90": float(p90),
        "per_second": len(classified) / outcome.seconds,
        "complete": float(np.mean(outcome.groups == num_nodes)),
    }


def table(rows):
    """The rows in lines: measured and, behind it, predicted."""
    lines = [f"nodes clients {'p50 ms':>15} {'p90 ms':>15} {'answers/s':>15} {'all groups':>15}"]
    for row in rows:
        cells = []
        for key, form in zip(COMPARED, (".1f", ".1f", ".1f", ".0%"), strict=True):
            cells.append(f"{row['measured'][key]:{form}} ({row['predicted'][key]:{form}})")
        lines.append(
            f"{row['num_nodes']:5} {row['clients']:7} " + " ".join(f"{cell:>15}" for cell in cells)
            + (" <- calibrated on" if row["calibration"] else "")
        )  # fmt: skip
    return "\n".join(lines)
