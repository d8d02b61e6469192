"""Shows what a recipe's augmentation makes of images.

    python -m training.augmented --config=training/configs/digits.py --output=sheet.png

Draws some training images, a row for each operation of the recipe by itself and one for all together; the
operations and their arguments are in sheet.json.
"""

import json
import pathlib

from absl import flags

from command_line import commands, config_files
from command_line.tables import table
from hsvit_runtime import outputs
from hsvit_runtime.files import write_json

FLAGS = flags.FLAGS


def define_flags():
    config_files.define(None, "File with the hyper-parameters.", lock_config=False)
    flags.DEFINE_string("data_dir", None, "Folder with the official files of the data set.")
    flags.DEFINE_string("output", None, "The .png file to draw to.", required=True)


def main(_):
    from data_sets import load_dataset
    from training.data_views import augmentation_sheet
    from training.fitting.open_values import complete, load_source
    from training.recipes import recipe

    output = pathlib.Path(FLAGS.output)
    outputs.check(output, outputs.PICTURE)
    outputs.check(output.with_suffix(".json"), outputs.json_with("data", "augmentation"))
    values = recipe.plain(FLAGS.config)
    values = complete(values, load_source(values), FLAGS.data_dir)
    augmentation_sheet.draw(load_dataset(values["data"], "train", FLAGS.data_dir), values, output)
    keys = ("data", "image_shape", "augmentation", "views", "evaluation_crop", "seed")
    write_json(output.with_suffix(".json"), {key: values[key] for key in keys})
    rows = [(name, json.dumps(arguments)) for name, arguments in values["augmentation"]]
    print(table(("operation", "arguments"), rows))
    print(f"wrote {output} and {output.with_suffix('.json')}")


if __name__ == "__main__":
    define_flags()
    commands.run(main)
