"""How much each layer of a model loses when it alone computes with integers."""

import warnings

import numpy as np

from command_line import tables
from hsvit_keras.compression import calibrate, quantize_aware
from hsvit_keras.compression.ranges import ranges_of
from hsvit_keras.compression.schemes import scheme_named

_BATCH = 64


def sensitivity(model, calibration, images, labels, task, scheme="int8", progress=lambda done, total: None):
    """Quantizes each layer alone, and all together.

    Args:
        model: `keras.Model` from images to its task's outputs, not quantized.
        calibration: batches of images to take the ranges from, as `calibrate` takes them.
        images: array of images `(count, height, width, channels)`.
        labels: int array `(count, ...)`, their labels.
        task: `hsvit_keras.tasks.Task` of the labels.
        scheme: `Scheme` or the name of one.
        progress: function `(done, total)`, called after each layer.

    Returns:
        dict of the task's metric of the float model, `quantized`, a row with all layers quantized, and
        `layers`, a row for each, the worst first: `layer`, `kind`, the metric, and `noise`, the root mean
        square of what outputs change by, over that of the outputs; of several outputs the largest.

    Raises:
        ValueError: the model cannot be quantized, or there is no such scheme.
    """
    kinds = scheme_named(scheme).integer
    whole, calibration = quantize_aware(model, scheme), list(calibration)
    calibrate(whole, calibration)
    ranges = {layer.name: layer.get_weights() for layer in ranges_of(whole)}
    expected = _outputs(model, images)

    def row(quantized):
        outputs = _outputs(quantized, images)
        noise = max(_noise(expected[name], found) for name, found in outputs.items())
        return {**task.evaluate(outputs, labels), "noise": noise}

    names = {layer.name: type(layer).__name__ for layer in model.layers if type(layer) in kinds}
    rows = []
    for name, kind in names.items():
        with warnings.catch_warnings():
            # Of layers that no scheme knows: quantizing `whole` warned of them.
            warnings.simplefilter("ignore")
            alone = quantize_aware(model, scheme, skip=[other for other in names if other != name])
        if {layer.name for layer in ranges_of(alone)} <= set(ranges):
            for layer in ranges_of(alone):
                layer.set_weights(ranges[layer.name])
        else:  # alone, a layer may not share a range that all of them would
            calibrate(alone, calibration)
        rows.append({"layer": name, "kind": kind, **row(alone)})
        progress(len(rows), len(names))
    rows.sort(key=lambda row: -row["noise"])
    return {**task.evaluate(expected, labels), "quantized": row(whole), "layers": rows}


def _outputs(model, images):
    found = model.predict(images, batch_size=_BATCH, verbose=0)
    return found if isinstance(found, dict) else {"output": found}


def _noise(expected, found):
    return float(np.sqrt(np.mean((found - expected) ** 2) / np.mean(expected**2)))


def table(report, metric, worst):
    """The worst layers of a report as text.

    Args:
        report: dict of `sensitivity`.
        metric: `hsvit_keras.tasks.Measure`, the task's.
        worst: int, how many layers.
    """
    everything = {"layer": "all layers", **report["quantized"]}
    lines = [
        (
            row["layer"],
            metric.format(row[metric.name]),
            f"{0 - metric.loss_in_points(report[metric.name], row[metric.name]):+.2f}",
            f"{row['noise']:.4f}",
        )
        for row in (everything, *report["layers"][:worst])
    ]
    lines.append(("nothing", metric.format(report[metric.name]), "", ""))
    return tables.table(("quantized", metric.title, "points", "noise"), lines)
