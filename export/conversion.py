"""What every converter does around its own step: load, lower, compare with Keras, then write.

Nothing is written unless the artifact answers as the Keras model does on real images.
"""

import pathlib
import shutil

import numpy as np
from absl import flags

from export import statistics
from training import commands, files, saved_models

FLAGS = flags.FLAGS


def define_flags():
    """The flags that all converters share."""
    flags.DEFINE_string("model", None, "The .keras file to convert.")
    flags.DEFINE_string("output", None, "The artifact to write; a report goes beside it as .json.")
    flags.DEFINE_integer("batch", 1, "Images at a time; the artifact takes no other number.", lower_bound=1)
    flags.DEFINE_bool("pixels", False, "Let the artifact take pixels of 0..255 and normalize them itself.")
    flags.DEFINE_list(
        "mean", None, "Subtracted from pixels of 0..1 in training: one number or one a channel."
    )
    flags.DEFINE_list(
        "std", None, "Divided them after that. Both are read from config.json beside the model."
    )
    flags.DEFINE_string("labels", None, "Class names, one a line, to put beside the artifact as .labels.txt.")
    flags.DEFINE_string("data", "digits", "Image set to compare the answers on.")
    flags.DEFINE_string("data_dir", None, "Folder of that image set.")
    flags.DEFINE_integer("samples", 64, "Images to compare the answers on.", lower_bound=1)
    flags.mark_flags_as_required(["model", "output"])


def run(suffix, convert):
    """Makes one artifact from the flags.

    Args:
        suffix: str, how the name of the output has to end.
        convert: function `(lowered model) -> (bytes, facts, answer, limits)`: the artifact, a dict for
            its report, a function from a batch `(batch, height, width, channels)` to its answers, and
            the limits of `check_parity`.

    Returns:
        dict, the report that was written.
    """
    commands.require_backend("tensorflow")
    from export.lowering import lower

    output = pathlib.Path(FLAGS.output)
    if output.suffix != suffix:
        raise ValueError(f"--output has to end in {suffix}; received {output}")
    with files.replacing(output) as artifact, files.replacing(output.with_suffix(".json")) as described:
        model = saved_models.load_model(FLAGS.model)
        mean, std = _normalization(model)
        names = _class_names(model)
        inside = {"mean": mean, "std": std} if FLAGS.pixels else {}
        content, facts, answer, limits = convert(lower(model, FLAGS.batch, **inside))
        pictures = _pictures(model)
        parity = compare(model, answer, pictures, mean, std)
        check_parity(parity, limits)
        facts["input"] |= {"pixels": FLAGS.pixels, **inside}
        report = {"model": FLAGS.model, **facts, "labels": names, "parity": parity}
        artifact.write_bytes(content)
        files.write_json(described, report)
    if names:
        with files.replacing(output.with_suffix(".labels.txt")) as labels:
            shutil.copyfile(_labels_file(), labels)
    return report


def _normalization(model):
    mean, std = saved_models.normalization_beside(FLAGS.model)
    mean = mean if FLAGS.mean is None else commands.numbers("mean", FLAGS.mean)
    std = std if FLAGS.std is None else commands.numbers("std", FLAGS.std)
    saved_models.check_normalization(mean, std, model.input_shape[-1])
    return mean, std


def _labels_file():
    return FLAGS.labels or saved_models.labels_beside(FLAGS.model)


def _class_names(model):
    file = _labels_file()
    if file is None:
        return None
    names = pathlib.Path(file).read_text().splitlines()
    if len(names) != model.output_shape[-1]:
        raise ValueError(f"{file} names {len(names)} classes, the model has {model.output_shape[-1]}")
    return names


def _pictures(model):
    """Real images in units of 0..1, as many as fill whole batches."""
    from training.data import load_dataset, sample_images

    count = -(-FLAGS.samples // FLAGS.batch) * FLAGS.batch
    dataset = load_dataset(FLAGS.data, "test", FLAGS.data_dir)
    return sample_images(dataset, count, image_shape=model.input_shape[1:], mean=0.0, std=1.0)[0]


def compare(model, answer, pictures, mean, std):
    """How alike a Keras model and its artifact answer pictures in units of 0..1."""
    normalized = ((pictures - np.asarray(mean)) / np.asarray(std)).astype("float32")
    expected = np.concatenate([model(batch, training=False) for batch in _batches(normalized)])
    given = 255 * pictures if FLAGS.pixels else normalized
    answers = np.concatenate([answer(batch) for batch in _batches(given)])
    parity = statistics.agreement(expected, answers)
    return {
        "samples": parity.pop("images"),
        "data": FLAGS.data,
        "largest_answer": float(np.abs(expected).max()),
        **parity,
    }


def _batches(images):
    return np.split(images, len(images) // FLAGS.batch)


def check_parity(parity, limits):
    """Raises `ValueError` if an artifact answers differently from the model it was made from.

    Args:
        parity: dict of `compare`.
        limits: dict with `max_abs_diff`, relative to the largest answer where that is above 1, or `cosine`.
    """
    scale = max(1.0, parity["largest_answer"])
    far = "max_abs_diff" in limits and not parity["max_abs_diff"] <= limits["max_abs_diff"] * scale
    askew = "cosine" in limits and not parity["cosine"] >= limits["cosine"]
    if far or askew:
        raise ValueError(
            f"the artifact does not answer as Keras does: max_abs_diff {parity['max_abs_diff']:.3g}, "
            f"cosine {parity['cosine']:.6f}, same top-1 on {parity['top1_agreement']:.1%} of "
            f"{parity['samples']} images; limits {limits}. Nothing was written"
        )


def print_parity(report):
    """The line of a summary that tells how alike the answers are."""
    parity = report["parity"]
    print(f"  answers as Keras does on {parity['samples']} images of {parity['data']}: ", end="")
    print(f"max difference {parity['max_abs_diff']:.2g}, cosine {parity['cosine']:.6f}, ", end="")
    print(f"same top-1 {parity['top1_agreement']:.1%}")
