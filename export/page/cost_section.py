"""Instructions on a phone's core, as `export.arm_cost` counted them."""

from export.page import report_page

_KINDS = {
    "dot": "8-bit dots",
    "mmla": "8-bit matrices",
    "fma": "Float multiply-adds",
    "load_store": "Loads and stores",
}


def section(report):
    """The section as HTML.

    Args:
        report: dict, a report of `export.arm_cost`.
    """
    models = report["models"]
    kinds = [kind for kind in _KINDS if any(model["by_kind"].get(kind) for model in models)]
    rows = [
        [
            model["name"],
            f"{model['ratio']:.3f}",
            f"{model['instructions']:,}",
            *(f"{model['by_kind'].get(kind, 0):,}" for kind in kinds),
        ]
        for model in models
    ]
    columns = ["<Model", "Ratio", "Instructions", *(_KINDS[kind] for kind in kinds)]
    return report_page.section(
        f"Instructions on {report['core']}",
        report_page.table("Instructions of one inference", columns, rows),
        report_page.paragraph(
            "Executed for one inference on one thread, counted on an emulated core; ratio to "
            f"{models[0]['name']}. No time: memory and pipelines are not in it. Like models compare best.",
            "quiet",
        ),
    )
