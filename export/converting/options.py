"""Flags of a conversion, and the data that a model is calibrated and compared on."""

import pathlib

from absl import flags

from command_line import bounded, commands, model_data
from data_sets import load_dataset, sample_images
from data_sets.crops import crop_of
from hsvit_runtime import input_files
from hsvit_runtime.errors import InputError
from hsvit_runtime.presets import PRESETS, RANGE_METHODS, preset_named

FLAGS = flags.FLAGS
_CALIBRATION = ["calibration_data", "calibration_samples", "calibration_ranges", "equalize", "correct_biases"]
_OF_DATA = ["data_dir", "input_range", "calibration_samples"]
_OTHERWISE = ": export.tflite and export.onnx take arrays by --inputs"


def define_flags():
    """The flags that all conversions have."""
    flags.DEFINE_string("model", None, "The .keras file to convert.", required=True)
    flags.DEFINE_string("output", None, "The file to write; a report goes beside it as .json.", required=True)
    model_data.define_flags()
    bounded.samples("samples", 64, "Samples of it to compare the outputs on.")


def define_comparison_flags():
    """The flags of a conversion of any model, whatever it takes."""
    flags.DEFINE_string(
        "inputs",
        None,
        "A .npz file of arrays, named as the model's inputs, to compare on instead of images of a data set, "
        "and to set the ranges of int8 by where the model has none.",
    )
    define_loss_flag()


def define_loss_flag():
    """The flag that writes an artifact all the same."""
    flags.DEFINE_bool(
        "allow_loss", False, "Write the artifact though it differs from the model by more than the limits."
    )


def define_preset_flags():
    """The flags that say how weights are stored and for which runtime."""
    meanings = "; ".join(f"{name}: {preset.meaning}" for name, preset in PRESETS.items())
    flags.DEFINE_enum("preset", "dynamic", list(PRESETS), meanings)
    flags.DEFINE_string("runtime", None, "Oldest runtime that has to load the file, such as 2.16.")
    define_calibration_flags()


def define_calibration_flags():
    """The flags that name the data which sets a model's ranges."""
    flags.DEFINE_string(
        "calibration_data", None, "For int8: data set whose training part sets the model's ranges anew."
    )
    bounded.samples("calibration_samples", 512, "How many of its samples.")
    flags.DEFINE_enum(
        "calibration_ranges",
        "extremes",
        RANGE_METHODS,
        "How a range is found: smallest and largest value; the mean of those of each batch; the range with "
        "the least error of rounding and clipping; or that of the least relative entropy.",
    )
    flags.DEFINE_bool("equalize", False, "Equalize the channels of successive layers before calibration.")
    flags.DEFINE_bool("correct_biases", True, "Correct the biases of a float model after calibration.")


def check_calibration(presets):
    """Raises `InputError` if a flag of calibration was given for presets none of which needs ranges."""
    if not any(preset_named(preset).needs_ranges for preset in presets):
        commands.refuse_useless(f"for --preset={','.join(presets)}, which needs no ranges", *_CALIBRATION)


def _check_has_calibration(calibration):
    """Raises `InputError` if a flag says how to calibrate, and nothing says by which data."""
    if calibration is None:
        commands.refuse_useless("without --calibration_data", *_CALIBRATION)


def parts_request(model):
    """The `export.sharding.requests.Request` of the command line, for a model that is cut into parts."""
    from export.sharding.requests import Request
    from hsvit_keras.layers.model_description import description_of

    check_calibration([FLAGS.preset])
    calibration = calibration_for(model)
    _check_has_calibration(calibration)
    return Request(
        model,
        samples_for(model, FLAGS.samples),
        preset=FLAGS.preset,
        runtime=FLAGS.runtime,
        calibration=calibration,
        input_range=model_data.input_range_of(description_of(model), FLAGS.input_range),
    )


def comparison_for(model, batch_size):
    """What a conversion compares and calibrates on: arguments of `hsvit_keras.to_tflite`.

    Args:
        model: `keras.Model`.
        batch_size: int, the samples that the artifact takes at a time; 0 for any number.

    Returns:
        dict of `samples`, `calibration` and `allow_loss`.
    """
    check_calibration([FLAGS.preset])
    calibration = calibration_for(model)
    if FLAGS.inputs is None:
        samples = samples_for(model, max(FLAGS.samples, batch_size))
    else:
        commands.refuse_useless("with --inputs, whose arrays are all used", "samples")
        if calibration is None:
            commands.refuse_useless("with --inputs and without --calibration_data", *_OF_DATA)
        samples = _samples_of_file(FLAGS.inputs, model)
        if calibration is None and preset_named(FLAGS.preset).needs_ranges and not _is_quantized(model):
            calibration = _calibration([samples.inputs])
    _check_has_calibration(calibration)
    return {"samples": samples, "calibration": calibration, "allow_loss": FLAGS.allow_loss}


def own_calibration_for(model):
    """`Calibration` by --calibration_data, else, of a float model, by the data set that it was trained on."""
    from hsvit_keras.layers.model_description import description_of

    own = description_of(model).data_set or FLAGS.data
    return calibration_for(model, None if _is_quantized(model) else own)


def settings_of(preset):
    """What the flags say of the artifact of a preset, to tell whether one was made by the same: dict."""
    names = ["data", "input_range", "allow_loss"]
    if preset_named(preset).needs_ranges:
        names += _CALIBRATION
    return {name: FLAGS[name].value for name in names}


def _is_quantized(model):
    from hsvit_keras.compression.quantization import is_quantized

    return is_quantized(model)


def _samples_of_file(path, model):
    """`Samples` of the arrays in a .npz file."""
    from hsvit_keras.artifacts import Samples
    from hsvit_keras.checkpoints.reading import read_npz
    from hsvit_keras.compression.model_inputs import named_inputs

    if FLAGS.data is not None:
        raise InputError(f"--inputs and --data exclude each other; received {path} and {FLAGS.data}")
    content = input_files.read(path, "file of --inputs")
    try:
        found = read_npz(content)
    except Exception as error:  # a damaged file can fail in any way
        reason = " ".join(str(error).split())
        raise InputError(f"--inputs={path} is no .npz file of arrays of numbers: {reason}") from error
    named = named_inputs(model, found, f"the arrays of --inputs={path}")
    return Samples(named, data=pathlib.Path(path).name)


def samples_for(model, count):
    """`Samples` of the data set of a model, or of --data.

    Args:
        model: `keras.Model` with one input, images or clips.
        count: int.
    """
    from hsvit_keras.artifacts import Samples
    from hsvit_keras.layers.model_description import description_of

    description = description_of(model)
    dataset = load_dataset(model_data.data_set_of(description, FLAGS.data), "test", FLAGS.data_dir)
    inputs, labels = _inputs(dataset, model, count)
    fit = dataset.labels_fit(description.class_names, model.outputs[0].shape[-1])
    return Samples(inputs, labels if fit else None, dataset.name)


def calibration_for(model, default=None):
    """`Calibration` for a model by --calibration_data, else by the data set `default`; None without both."""
    named = FLAGS.calibration_data or default
    if named is None:
        return None
    dataset = load_dataset(named, "train", FLAGS.data_dir)
    inputs, _ = _inputs(dataset, model, FLAGS.calibration_samples)
    return _calibration([inputs[start : start + 64] for start in range(0, len(inputs), 64)])


def _calibration(batches):
    from hsvit_keras.compression import Calibration

    return Calibration(batches, FLAGS.calibration_ranges, FLAGS.equalize, FLAGS.correct_biases)


def _inputs(dataset, model, count):
    from hsvit_keras.layers.model_description import description_of

    model_data.check_takes_images(model, _OTHERWISE)
    description, shape = description_of(model), model.inputs[0].shape[1:]
    return sample_images(
        dataset,
        min(count, len(dataset)),
        image_shape=shape,
        input_range=model_data.input_range_of(description, FLAGS.input_range),
        crop=crop_of(description.resizing),
    )
