"""What an HSViT sees in images, as in Figure 4 of its paper (https://arxiv.org/abs/2404.05196).

    python -m training.visualize --model=RUN/best.keras --output=maps.png

A row for each image: the image; for each attention group the feature map, behind the last convolution, of
the kernel that the group's class token attends to most; and how this token's attention is spread over all
tokens of its group, the mean of its heads. The numbers are written to maps.json.
"""

import pathlib

from absl import flags

from command_line import commands, model_data
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("model", None, "An HSViT as a .keras file.", required=True)
    flags.DEFINE_string("output", None, "A .png file to write.", required=True)
    model_data.define_flags()
    flags.DEFINE_integer("count", 5, "How many images.", lower_bound=1)
    flags.DEFINE_integer("groups", 12, "How many attention groups at most.", lower_bound=1)
    flags.DEFINE_integer("block", -1, "Which attention block; the last by default.")
    flags.DEFINE_integer("seed", 0, "Decides which images.", lower_bound=0)


def main(_):
    import numpy as np

    from data_sets import load_dataset, sample_images
    from data_sets.crops import crop_of
    from hsvit_keras.layers.model_description import description_of
    from hsvit_keras.model_files import load_model
    from hsvit_runtime.files import write_json
    from training.visualizing import attention_maps

    output = pathlib.Path(FLAGS.output)
    if output.suffix != ".png":
        raise InputError(f"--output has to end in .png; received {output}")
    model = load_model(FLAGS.model)
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
    images, _ = sample_images(dataset, input_range=input_range, **sample)
    maps = attention_maps.feature_maps(model, images)
    attention = attention_maps.class_attention(model, images, FLAGS.block)
    if maps is None:
        print(f"{FLAGS.model} has no convolution, so there are no feature maps")
    if attention is None:
        print(f"{FLAGS.model} has no attention")
    predicted, names = np.asarray(model(images)).argmax(-1), dataset.class_names
    rows = [
        {"label": names[label], "predicted": names[found]}
        for label, found in zip(labels, predicted, strict=True)
    ]
    attention_maps.draw(pictures, rows, maps, attention, FLAGS.groups, output)
    if attention is not None:
        for row, weights in zip(rows, attention, strict=True):
            row["class_attention"] = weights.astype(float).round(5).tolist()
    write_json(output.with_suffix(".json"), {"model": FLAGS.model, "data": data, "images": rows})
    print(f"wrote {output} and {output.with_suffix('.json')}")


if __name__ == "__main__":
    define_flags()
    commands.run(main)
