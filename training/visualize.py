"""What an HSViT sees in images, as in Figure 4 of its paper (https://arxiv.org/abs/2404.05196).

    python -m training.visualize --model=RUN/best.keras --output=maps.png

A row for each image: the image; for each attention group the feature map, behind the last convolution, of
the kernel that the group's class token attends to most; and how this token's attention is spread over all
tokens of its group, the mean of its heads. With `--moved` the last image comes again, shifted and rotated,
with the maps of the same kernels. The numbers are written to maps.json.
"""

import pathlib

from absl import flags

from command_line import bounded, commands, model_data
from hsvit_runtime import outputs
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("model", None, "An HSViT as a .keras file.", required=True)
    flags.DEFINE_string("output", None, "A .png file to write.", required=True)
    model_data.define_flags()
    bounded.integer("count", 5, "How many images, a row of the figure each.", 1, 50)
    bounded.integer("groups", 12, "How many attention groups at most.", 1, 64)
    bounded.integer("block", -1, "Which attention block; the last by default.", -1000, 1000)
    flags.DEFINE_bool("moved", False, "Also draw the last image shifted and rotated.")
    bounded.seed("Decides which images.")


def main(_):
    import numpy as np

    from command_line import plots
    from data_sets import load_dataset, sample_images
    from data_sets.crops import crop_of
    from hsvit_keras.compression.graph import functional
    from hsvit_keras.layers.model_description import description_of
    from hsvit_keras.model_files import load_model
    from hsvit_runtime.files import write_json
    from hsvit_runtime.pixels import in_range
    from training.visualizing import attention_maps

    output = pathlib.Path(FLAGS.output)
    outputs.check(output, outputs.PICTURE)
    outputs.check(output.with_suffix(".json"), outputs.json_with("model", "data", "images"))
    model = load_model(FLAGS.model)
    graph = functional(model)
    model_data.check_takes_images(graph)
    model_data.check_has_one_output(graph)
    description = description_of(model)
    data = model_data.data_set_of(description, FLAGS.data)
    input_range = model_data.input_range_of(description, FLAGS.input_range)
    dataset = load_dataset(data, "test", FLAGS.data_dir)
    if dataset.has_clips:
        raise InputError(f"attention and feature maps are drawn over images; {FLAGS.model} takes clips")
    sample = {
        "count": FLAGS.count,
        "image_shape": model.input_shape[1:],
        "crop": crop_of(description.resizing),
        "seed": FLAGS.seed,
    }
    pictures, labels = sample_images(dataset, **sample)
    rows = [{"label": dataset.class_names[label]} for label in labels]
    if FLAGS.moved:
        pictures, rows = _with_moved(model, pictures, rows)
    images = in_range(pictures, input_range)
    for row, found in zip(rows, np.asarray(model(images)).argmax(-1), strict=True):
        row["predicted"] = dataset.class_names[found]
    attention = attention_maps.class_attention(model, images, FLAGS.block)
    if attention is None:
        print(f"{FLAGS.model} has no attention")
    else:
        for row, weights in zip(rows, attention, strict=True):
            row["class_attention"] = weights.astype(float).round(5).tolist()
    with plots.style():
        maps, kernels = _maps(model, images, attention)
        captions = [_caption(row) for row in rows]
        plots.save(attention_maps.figure_of(pictures, captions, maps, kernels, attention), output)
    write_json(output.with_suffix(".json"), {"model": FLAGS.model, "data": data, "images": rows})
    print(f"wrote {output} and {output.with_suffix('.json')}")


def _with_moved(model, pictures, rows):
    """Pictures and rows with the last picture shifted and rotated behind them."""
    import numpy as np

    from training.visualizing import attention_maps, moving

    moved = moving.moved(pictures[-1:], attention_maps.map_shape(model))
    pictures = np.concatenate([pictures, *moved.values()])
    return pictures, rows + [{**rows[-1], "moved": name} for name in moved]


def _maps(model, images, attention):
    """The maps to show and their kernels; those of a moved image are of the kernels of the image itself."""
    from training.visualizing import attention_maps

    maps = attention_maps.feature_maps(model, images)
    if maps is None:
        print(f"{FLAGS.model} has no convolution, so there are no feature maps")
        return None, None
    kernels = attention_maps.chosen_kernels(maps, attention, FLAGS.groups)
    kernels[FLAGS.count :] = kernels[FLAGS.count - 1]
    return attention_maps.maps_of(maps, kernels), kernels


def _caption(row):
    label, predicted = row["label"], row["predicted"]
    caption = label if predicted == label else f"{label} (taken for {predicted})"
    return f"{caption}, {row['moved']}" if "moved" in row else caption


if __name__ == "__main__":
    define_flags()
    commands.run(main)
