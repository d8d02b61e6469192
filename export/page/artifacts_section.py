"""The artifacts of a run: how near to Keras they are, and what is inside."""

from export.page import formats, report_page


def section(reports):
    """The section as HTML.

    Args:
        reports: list of converters' reports, each with the artifact's file `name`.
    """
    if not reports:
        return report_page.section("Artifacts", report_page.missing("No report of a converter was found."))
    artifacts = sorted(reports, key=lambda artifact: -(artifact.get("bytes") or 0))
    agreements = [formats.measure_of(artifact.get("task"), "agreement") for artifact in artifacts]
    metrics = [formats.measure_of(artifact.get("task"), "metric") for artifact in artifacts]
    titles = [next((measure.title for measure in kind if measure), None) for kind in (agreements, metrics)]
    nearness = [
        [
            artifact["name"],
            artifact.get("preset"),
            formats.size(artifact.get("bytes")),
            formats.number(artifact["parity"].get("max_abs_diff"), ".2g"),
            formats.number(artifact["parity"].get("cosine"), ".6f"),
            *([formats.measured(agreement, artifact["parity"])] if titles[0] else []),
            *([formats.measured(metric, artifact["parity"].get("metrics"))] if titles[1] else []),
            artifact["parity"].get("samples"),
            artifact["parity"].get("data") or "random inputs",
            _runtime(artifact),
        ]
        for artifact, agreement, metric in zip(artifacts, agreements, metrics, strict=True)
    ]
    contents = [
        [
            artifact["name"],
            _operators(artifact.get("ops")),
            artifact.get("partitions"),
            _delegated(artifact),
            None if artifact.get("flex_ops") is None else ", ".join(artifact["flex_ops"]) or "none",
            _tensor(artifact.get("input"), (artifact.get("description") or {}).get("input_range")),
            _tensor(artifact.get("output")),
            artifact["sha256"][:12],
        ]
        for artifact in artifacts
    ]
    return report_page.section(
        "Artifacts",
        report_page.table(
            "How near the artifacts are to Keras",
            [
                *("<File", "<Preset", "Size", "Largest difference", "Cosine"),
                *filter(None, titles),
                *("Samples", "<Data", "Runtime from"),
            ],
            nearness,
        ),
        report_page.paragraph(
            "Outputs are compared with those of the Keras model on the same samples.", "quiet"
        ),
        report_page.table(
            "What is inside the artifacts",
            ["<File", "Ops", "Partitions", "<Delegated", "<Flex ops", "<Input", "<Output", "<SHA-256"],
            contents,
        ),
        report_page.paragraph(
            "Partitions are the pieces of the graph that the delegate XNNPACK runs; one is best.", "quiet"
        ),
    )


def _runtime(artifact):
    return f"opset {artifact['opset']}" if "opset" in artifact else artifact.get("minimum_runtime")


def _operators(ops):
    return sum(ops.values()) if isinstance(ops, dict) else ops


def _delegated(artifact):
    left = artifact.get("undelegated_ops")
    if artifact.get("fully_delegated") or not left:
        return {True: "all", False: "not all", None: None}[artifact.get("fully_delegated")]
    return "all but " + ", ".join(f"{op['count']} {op['op']} ({op['reason']})" for op in left)


def _tensor(tensor, pixels=None):
    if not tensor:
        return None
    shape = " × ".join("any" if size is None else str(size) for size in tensor["shape"])
    limits = f", pixels of {pixels[0]:g}–{pixels[1]:g}" if pixels else ""
    return f"{shape} {tensor['dtype']}{limits}"
