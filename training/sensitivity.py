"""Which layers lose most when they compute with integers: each is quantized alone.

    python -m training.sensitivity --model=RUN/best.keras --output=sensitivity.json

The worst ones are candidates for `quantize_aware(model, skip=[...])`. Ranges are taken from training images,
once, and outputs are compared with those of the float model on test images.
"""

import numpy as np
from absl import flags

from command_line import bounded, commands, model_data
from hsvit_runtime import outputs

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("model", None, "The .keras file of a float model.", required=True)
    flags.DEFINE_string("output", None, "The .json file to write.", required=True)
    flags.DEFINE_string("scheme", "int8", "Scheme of the quantization.")
    model_data.define_flags()
    bounded.samples("calibration_samples", 512, "Training images to take the ranges from.")
    bounded.samples("samples", 1000, "Test images to compare the outputs of.")
    bounded.integer("worst", 10, "Layers to print; the file has all.", 1, bounded.MANY)


def main(_):
    from hsvit_keras.backends import require_backend
    from hsvit_keras.compression.graph import functional
    from hsvit_keras.layers.model_description import description_of
    from hsvit_keras.model_files import load_model
    from hsvit_keras.tasks import task_named
    from hsvit_runtime.files import write_json
    from training.compressing.layer_sensitivity import sensitivity, table

    require_backend("tensorflow", "jax")
    outputs.check(FLAGS.output, outputs.json_with("scheme", "layers"), reads=[FLAGS.model])
    model = load_model(FLAGS.model)
    graph = functional(model)
    model_data.check_takes_images(graph)
    if isinstance(graph.output, list):  # those of detectors have names
        model_data.check_has_one_output(graph)
    description = description_of(model)
    data = model_data.data_set_of(description, FLAGS.data)
    input_range = model_data.input_range_of(description, FLAGS.input_range)
    calibration, _ = _batches(model, data, "train", FLAGS.calibration_samples, input_range)
    test, task = _batches(model, data, "test", FLAGS.samples, input_range)
    images, labels = map(np.concatenate, zip(*test, strict=True))
    report = sensitivity(
        model, calibration, images, labels, task_named(task), FLAGS.scheme, progress=_show_progress
    )
    write_json(FLAGS.output, {"model": FLAGS.model, "data": data, "scheme": FLAGS.scheme, **report})
    print(table(report, task_named(task).metric, FLAGS.worst))
    print(f"wrote {FLAGS.output}")


def _batches(model, data, split, samples, input_range):
    """(batches of a part, the name of its task)."""
    from data_sets import load_dataset, sample_batches
    from data_sets.crops import crop_of
    from hsvit_keras.layers.model_description import description_of

    dataset = load_dataset(data, split, FLAGS.data_dir)
    preparation = {
        "image_shape": model.input_shape[1:],
        "input_range": input_range,
        "crop": crop_of(description_of(model).resizing),
    }
    return sample_batches(dataset, samples, **preparation), dataset.task


def _show_progress(done, total):
    commands.show_progress("layer", done, total)


if __name__ == "__main__":
    define_flags()
    commands.run(main)
