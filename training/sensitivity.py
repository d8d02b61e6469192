"""Which layers lose most when they compute with integers: each is quantized alone.

    python -m training.sensitivity --model=RUN/best.keras --output=sensitivity.json

The worst ones are candidates for `quantize_aware(model, skip=[...])`. Ranges are taken from training images,
once, and answers are compared with those of the float model on test images.
"""

import warnings

import numpy as np
from absl import flags

from command_line import commands
from hsvit_keras.backends import require_backend

FLAGS = flags.FLAGS
_BATCH = 64


def define_flags():
    flags.DEFINE_string("model", None, "The .keras file of a float model.", required=True)
    flags.DEFINE_string("output", None, "The .json file to write.", required=True)
    flags.DEFINE_string("scheme", "int8", "Scheme of the quantization.")
    flags.DEFINE_string("data", "digits", "Image set.")
    flags.DEFINE_string("data_dir", None, "Folder of that image set.")
    flags.DEFINE_integer(
        "calibration_samples", 512, "Training images to take the ranges from.", lower_bound=1
    )
    flags.DEFINE_integer("samples", 1000, "Test images to answer.", lower_bound=1)
    flags.DEFINE_integer("worst", 10, "Layers to print; the file has all.", lower_bound=1)


def main(_):
    from hsvit_keras.model_files import load_model
    from hsvit_runtime.files import write_json

    require_backend("tensorflow", "jax")
    model = load_model(FLAGS.model)
    calibration = _batches(model, "train", FLAGS.calibration_samples)
    images, labels = map(np.concatenate, zip(*_batches(model, "test", FLAGS.samples), strict=True))
    report = sensitivity(model, calibration, images, labels, FLAGS.scheme, progress=_progress)
    write_json(FLAGS.output, {"model": FLAGS.model, "data": FLAGS.data, "scheme": FLAGS.scheme, **report})
    print(table(report, FLAGS.worst))
    print(f"wrote {FLAGS.output}")


def sensitivity(model, calibration, images, labels, scheme="int8", progress=lambda done, total: None):
    """Quantizes each layer alone, and all together.

    Args:
        model: `keras.Model` from images to logits, not quantized.
        calibration: batches of images to take the ranges from, as `calibrate` takes them.
        images: array of images `(count, height, width, channels)` to answer.
        labels: int array `(count,)`, their classes.
        scheme: `Scheme` or the name of one.
        progress: function `(done, total)`, called after each layer.

    Returns:
        dict of `accuracy` of the float model, `quantized`, a row with all layers quantized, and `layers`, a
        row for each, the worst first: `layer`, `kind`, `accuracy`, and `noise`, the root mean square of what
        the logits change by, over that of the logits.

    Raises:
        ValueError: the model cannot be quantized, or there is no such scheme.
    """
    from hsvit_keras import calibrate, quantize_aware
    from hsvit_keras.compression.ranges import ranges_of
    from hsvit_keras.compression.schemes import scheme_named

    kinds = scheme_named(scheme).integer
    whole = quantize_aware(model, scheme)
    calibrate(whole, calibration)
    expected = model.predict(images, batch_size=_BATCH, verbose=0)

    def row(quantized):
        answers = quantized.predict(images, batch_size=_BATCH, verbose=0)
        noise = np.sqrt(np.mean((answers - expected) ** 2) / np.mean(expected**2))
        return {"accuracy": _accuracy(answers, labels), "noise": float(noise)}

    names = {layer.name: type(layer).__name__ for layer in model.layers if type(layer) in kinds}
    rows = []
    for name, kind in names.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of layers that no scheme knows: it was said once
            alone = quantize_aware(model, scheme, skip=[other for other in names if other != name])
        for layer in ranges_of(alone):
            layer.set_weights(whole.get_layer(layer.name).get_weights())
        rows.append({"layer": name, "kind": kind, **row(alone)})
        progress(len(rows), len(names))
    rows.sort(key=lambda row: -row["noise"])
    return {"accuracy": _accuracy(expected, labels), "quantized": row(whole), "layers": rows}


def table(report, worst):
    """The worst layers of a report in lines."""
    lines = [f"{'quantized':40} {'accuracy':>9} {'points':>7} {'noise':>8}"]
    everything = {"layer": "all layers", **report["quantized"]}
    for row in (everything, *report["layers"][:worst]):
        points = 100 * (row["accuracy"] - report["accuracy"])
        lines.append(f"{row['layer']:40} {row['accuracy']:9.2%} {points:+7.2f} {row['noise']:8.4f}")
    return "\n".join([*lines, f"{'nothing':40} {report['accuracy']:9.2%}"])


def _accuracy(answers, labels):
    return float((answers.argmax(-1) == labels).mean())


def _batches(model, split, samples):
    from data_sets import load_dataset, sample_batches
    from hsvit_keras.model_files import normalization_beside

    dataset = load_dataset(FLAGS.data, split, FLAGS.data_dir)
    mean, std = normalization_beside(FLAGS.model)
    return sample_batches(dataset, samples, image_shape=model.input_shape[1:], mean=mean, std=std)


def _progress(done, total):
    print(f"{done} of {total} layers", flush=True)


if __name__ == "__main__":
    define_flags()
    commands.run(main)
