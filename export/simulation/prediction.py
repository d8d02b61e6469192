"""Checks the simulation: calibrated on one measured run of a service, it has to predict the other runs.

The run with one node and one client gives four durations: of the shards on the node, of the call to the
node without the shards, of the service's own work, and of HTTP. With more nodes, the shards are divided among
them, and the service makes a call to each.
"""

import numpy as np

from command_line import tables
from export.simulation.cluster import Setting, simulate
from export.simulation.network import Network
from hsvit_runtime.errors import InputError

_INSTANT = Network(one_way_ms=0.0, spread=0.0, up_mbits=np.inf, down_mbits=np.inf)
COMPARED = ("p50", "p90", "per_second", "complete")


def predict(served, images=2000, seed=0):
    """Simulates each measured run with what the run of one node and one client took.

    Args:
        served: list of dicts, as `python -m export.serve --bench` writes them; one of them has one node.
        images: int, how many to simulate for each run.
        seed: int.

    Returns:
        list of dicts: `num_nodes`, `clients`, `calibration` (whether it is the run that the simulation was
        calibrated on), and `measured` and `predicted`, dicts of `p50` and `p90` in ms, `per_second` and
        `complete`.

    Raises:
        InputError: there is no run of one node and one client, or a run lacks its samples.
    """
    runs = [(report, row) for report in served for row in report["rows"]]
    calibration = [row for report, row in runs if (report["num_nodes"], row["clients"]) == (1, 1)]
    if not calibration:
        raise InputError("a run with --num_nodes=1 and one client is needed, to calibrate the simulation on")
    return [
        {
            "num_nodes": report["num_nodes"],
            "clients": row["clients"],
            "calibration": row is calibration[0],
            "measured": _measured(row),
            "predicted": _predicted(report, row["clients"], calibration[0]["samples"], images, seed),
        }
        for report, row in runs
    ]


def _measured(row):
    measured = {**row["latency_ms"], **row}
    return {key: measured[key] for key in COMPARED}


def _predicted(report, clients, samples, images, seed):
    latency, service, nodes, shards = (
        np.asarray(samples[f"{part}_ms"]) for part in ("latency", "service", "nodes", "shards")
    )
    num_nodes = report["num_nodes"]
    setting = Setting(
        shard_ms=[shards / num_nodes] * num_nodes,
        groups=[1] * num_nodes,
        network=_INSTANT,
        image_bytes=0,
        group_bytes=0,
        deadline_ms=report["deadline_ms"],
        http_ms=tuple(latency - service),
        service_ms=tuple(service - nodes),
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
    """The rows of `predict` as text: measured values, the predicted ones in brackets."""
    formats = dict(zip(COMPARED, (".1f", ".1f", ".1f", ".0%"), strict=True))
    return tables.table(
        ["nodes", "clients", "p50 ms", "p90 ms", "per second", "all groups", ""],
        [
            [
                row["num_nodes"],
                row["clients"],
                *(
                    f"{row['measured'][key]:{form}} ({row['predicted'][key]:{form}})"
                    for key, form in formats.items()
                ),
                "calibrated on" if row["calibration"] else "",
            ]
            for row in rows
        ],
    )
