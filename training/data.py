"""Shows what a data set holds: `python -m training.data --data=NAME --data_dir=DIR`.

Prints the images of each class and part, and of a folder the files that were left out. `--output=sheet.png`
draws a contact sheet, with the numbers in sheet.json; `--verify` decodes every image of all parts and names
those that cannot be read.
"""

import concurrent.futures
import pathlib

import numpy as np
from absl import flags

from command_line import bounded, commands
from command_line.tables import table
from data_sets.catalog import DATASETS, SPLITS, folder_of, load_dataset, load_validation
from data_sets.class_folders import left_out
from data_sets.sampling import classes_in
from hsvit_runtime import outputs
from hsvit_runtime.errors import InputError
from hsvit_runtime.files import write_json

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("data", None, f"The data set: {', '.join(DATASETS)}.", required=True)
    bounded.data_dir()
    flags.DEFINE_string("output", None, "A .png file to draw a contact sheet to.")
    flags.DEFINE_bool("verify", False, "Decode every image and name those that cannot be read.")


def main(_):
    output = pathlib.Path(FLAGS.output) if FLAGS.output else None
    if output:
        outputs.check(output, outputs.PICTURE)
        outputs.check(output.with_suffix(".json"), outputs.json_with("name", "images_per_class"))
    parts = _load_parts(FLAGS.data, FLAGS.data_dir)
    summary = _summarize(parts)
    _print_summary(summary)
    if FLAGS.data == "folder":
        summary["left_out"] = left_out(folder_of(FLAGS.data, FLAGS.data_dir), parts.values())
        _print_left_out(summary["left_out"])
    if FLAGS.verify:
        _verify(parts.values())
    if output:
        from training.data_views import contact_sheet  # imports matplotlib

        contact_sheet.draw(parts["train"], output)
        write_json(output.with_suffix(".json"), summary)
        print(f"wrote {output} and {output.with_suffix('.json')}")


def _load_parts(name, data_dir):
    """{name of a part: its `ImageDataset`} of all parts that there are."""
    parts = {split: load_dataset(name, split, data_dir) for split in SPLITS}
    validation = load_validation(name, data_dir)
    return parts if validation is None else {**parts, "validation": validation}


def _summarize(parts):
    first = parts["train"]
    return {
        "name": first.name,
        "task": first.task,
        "image_shape": list(first.image_shape),
        "class_names": list(first.class_names),
        "images": {split: len(dataset) for split, dataset in parts.items()},
        "images_per_class": {split: _images_per_class(dataset) for split, dataset in parts.items()},
    }


def _images_per_class(dataset):
    """How many images each class is in."""
    counts = np.zeros(len(dataset.class_names), np.int64)
    found = classes_in(dataset.labels).sum(axis=0)
    counts[: len(found)] = found
    return counts.tolist()


def _print_summary(summary):
    *frames, height, width, channels = summary["image_shape"]
    names = summary["class_names"]
    colour = "RGB" if channels == 3 else "grey"
    length = f"{frames[0]} frames of " if frames else ""
    task = summary["task"].replace("_", " ")
    print(
        f"{summary['name']}: {task}, {length}{height}x{width} pixels, {colour}, {len(names)} classes; "
        "images that hold each class:"
    )
    counts = zip(names, *summary["images_per_class"].values(), strict=True)
    rows = [*counts, ("all", *summary["images"].values())]
    print(table(("class", *summary["images"]), [(name, *map("{:,}".format, row)) for name, *row in rows]))


def _print_left_out(files):
    if files:
        print(
            f"left out: {len(files):,} files that are in no class folder or do not end as images do, "
            f"such as {files[0]}"
        )


def _verify(datasets):
    """Decodes every image of all parts; raises an error that tells how many of them cannot be read."""
    broken = [
        f"{count} of the {len(dataset):,} images of the {dataset.split} part"
        for dataset in datasets
        if (count := _count_broken(dataset))
    ]
    if broken:
        raise InputError(f"{' and '.join(broken)} cannot be read")


def _count_broken(dataset):
    """Decodes every image of a part, and prints which of them cannot be read."""

    def error_of(index):
        try:
            dataset[index]
        except OSError as error:
            return str(error)

    broken = 0
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for done, error in enumerate(pool.map(error_of, range(len(dataset))), start=1):
            if error:
                broken += 1
                print(error)
            if done % 1000 == 0 or done == len(dataset):
                commands.show_progress(f"{dataset.split} image", done, len(dataset))
    if not broken:
        print(f"{dataset.split}: all {len(dataset):,} images can be read")
    return broken


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
