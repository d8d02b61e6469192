"""The few lines that a conversion prints."""

from hsvit_runtime import inspection
from hsvit_runtime.measure import Measure


def lines(output, report):
    """What a report says, for people.

    Args:
        output: str or path, the artifact.
        report: dict of `hsvit_keras.to_tflite` or `hsvit_keras.to_onnx`.

    Returns:
        list of str.
    """
    kind = f"opset {report['opset']}, " if "opset" in report else ""
    told = [
        f"wrote {output}: {report['preset']}, {kind}{report['bytes'] / 1e3:,.1f} kB",
        f"  takes {_inputs(report)}{_range(report)}; gives {_outputs(report)}",
    ]
    if "partitions" in report:
        told[-1] += f"; loads from runtime {report['minimum_runtime']}"
        told.append(_acceleration(report))
        told += [
            f"  on runtime {runtime}: {inspection.older_delegation(report, runtime)}"
            for runtime in inspection.asked_for(report)
        ]
    return [*told, *parity(report)]


def parity(report):
    """The lines that tell how near the outputs are to Keras', and to those of the model handed in.

    Args:
        report: dict of `hsvit_keras.to_tflite`, or the manifest of shards, which has the first alone.

    Returns:
        list of str.
    """
    others = {"parity": "Keras", "parity_with_original": "the original"}
    return [_nearness(report, key, other) for key, other in others.items() if key in report]


def _nearness(report, key, other):
    found = report[key]
    data = found["data"] or "random inputs"
    text = f"  outputs against {other} on {found['samples']} samples of {data}: "
    text += f"largest difference {found['max_abs_diff']:.2g}, cosine {found['cosine']:.6f}"
    agreement = report["task"]["agreement"]
    if agreement:
        measure = Measure(**agreement)
        text += f", {measure.title.lower()} {measure.format(found[measure.name])}"
    return text


def _inputs(report):
    shapes = (
        " x ".join("any" if size is None else str(size) for size in tensor["shape"])
        for tensor in report["inputs"]
    )
    return ", ".join(
        f"{tensor['dtype']} {shape}" for tensor, shape in zip(report["inputs"], shapes, strict=True)
    )


def _outputs(report):
    return ", ".join(tensor["name"] for tensor in report["outputs"])


def _range(report):
    limits = report["description"]["input_range"]
    return f", pixels of {limits[0]:g} to {limits[1]:g}" if limits else ""


def _acceleration(report):
    left = ", ".join(f"{op['count']} {op['op']} ({op['reason']})" for op in report["undelegated_ops"])
    accelerated = "all of it" if report["fully_delegated"] else f"not {left}"
    return (
        f"  {sum(report['ops'].values())} ops, {report['total_macs'] / 1e6:.1f} M MACs; "
        f"XNNPACK runs {accelerated} in {report['partitions']} partition(s)"
    )
