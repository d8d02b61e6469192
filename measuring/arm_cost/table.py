"""Counts of instructions as text."""

from command_line import tables


def table(report):
    """The report of `counting.compare`: a line for each model, a column for each kind that occurs."""
    models = report["models"]
    kinds = [kind for kind in models[0]["by_kind"] if any(model["by_kind"][kind] for model in models)]
    text = tables.table(
        ["model", "instructions", "ratio", *(kind.replace("_", " ") for kind in kinds)],
        [
            [
                model["name"],
                f"{model['instructions']:,}",
                f"{model['ratio']:.3f}",
                *(f"{model['by_kind'][kind]:,}" for kind in kinds),
            ]
            for model in models
        ],
    )
    runtime = " ".join(report["runtime"].values())
    return f"{text}\ninstructions of one inference on {report['core']}, {runtime}, one thread"
