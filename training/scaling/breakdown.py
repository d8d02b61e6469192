"""What each kind of operation costs, as the paper's Table 11, for any model and any cost of artifacts.

The artifact is cut (`measuring.cutting`), and the parts are measured like the whole.
"""

import tempfile

from command_line import tables
from hsvit_runtime.errors import InputError
from hsvit_runtime.files import replacing
from measuring.cutting import cut
from training.scaling.texts import cost_text

# The paper's names; its MLP are all linear layers. Its vision transformers have no convolution.
KINDS = (
    "MLP", "Convolution", "LayerNorm", "MSA-MatMul", "MSA-Softmax", "MSA-Reshape&Transpose", "MSA-Gather",
    "Others",
)  # fmt: skip


def break_down(cost, model):
    """What each kind of operation of a model costs.

    Args:
        cost: `costs.Cost` of artifacts.
        model: `keras.Model` or configuration.

    Returns:
        dict of `whole`, in the cost's unit, and `kinds`: dict from kind to its cost, largest first.

    Raises:
        ValueError: it is no cost of `.tflite` files, or a part cannot be measured.
    """
    if cost.suffix != ".tflite":
        raise InputError(
            f"the cost {cost.name} is of whole files: only those of .tflite files are broken down"
        )
    with cost.artifact(model) as path:
        content, whole = path.read_bytes(), cost.of_artifact(path)
    costs = {kind: sum(map(cost_of_bytes(cost), parts)) for kind, parts in cut(content).items()}
    return {"whole": whole, "kinds": dict(sorted(costs.items(), key=lambda pair: -pair[1]))}


def cost_of_bytes(cost):
    """A function from an artifact's content to its cost."""

    def measure(content):
        with tempfile.TemporaryDirectory() as folder, replacing(f"{folder}/part.tflite") as path:
            path.write_bytes(content)
            return cost.of_artifact(path)

    return measure


def table(breakdown, unit):
    """A breakdown as text, with each kind's share of the sum."""
    total = sum(breakdown["kinds"].values())
    rows = [(kind, cost_text(value), f"{value / total:.2%}") for kind, value in breakdown["kinds"].items()]
    rows.append(("sum, of the whole", cost_text(total), f"{total / breakdown['whole']:.2%}"))
    return tables.table(("kind", unit, "share"), rows)


def distance(one, other):
    """The cosine distance of two breakdowns: 0 where all kinds have the same shares."""
    from scipy.spatial.distance import cosine

    return float(cosine(*([found["kinds"].get(kind, 0) for kind in KINDS] for found in (one, other))))


def distances(breakdowns):
    """The cosine distance of each pair of breakdowns, by which the paper compares devices (section 4.2.2).

    Args:
        breakdowns: dict from name to what `break_down` gives.

    Returns:
        dict from name to dict from name to float.
    """
    return {
        name: {other: distance(found, breakdowns[other]) for other in breakdowns}
        for name, found in breakdowns.items()
    }


def distances_table(found):
    """Distances as text."""
    rows = [(name, *(f"{value:.3f}" for value in row.values())) for name, row in found.items()]
    return tables.table(("", *found), rows)
