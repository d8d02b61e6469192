"""The rules for the delegate of 2.16 against what its wheel did with the same graphs, see record_2_16.py."""

import json

import pytest

pytest.importorskip("ai_edge_litert")

from hsvit_runtime.litert import runtimes, tflite_file, xnnpack_2_16
from tests.runtime.litert import graphs_2_16, record_2_16


def told(content):
    """What the rules say, as the record says it."""
    model = tflite_file.read(content, "graph")
    if not runtimes.loads(runtimes.oldest(runtimes.needs(model)), "2.16"):
        return None
    graph = model.subgraphs[0]
    left, partitions = xnnpack_2_16.plan(graph)
    assert all(reason for _, reason in left)
    return {"partitions": partitions, "left": sorted(graph.ops.index(op) for op, _ in left)}


def test_rules_say_what_the_wheel_did():
    recorded = json.loads(record_2_16.RECORD.read_text())
    graphs = graphs_2_16.graphs()
    assert list(recorded) == list(graphs)  # else record anew
    found = {name: told(content) for name, content in graphs.items()}
    assert {name: plan for name, plan in found.items() if plan != recorded[name]} == {}
    assert sum(plan is not None and bool(plan["left"]) for plan in recorded.values()) > 60
    assert {plan["partitions"] for plan in recorded.values() if plan} == {0, 1, 2, 3}
