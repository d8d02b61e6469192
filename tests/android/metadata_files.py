"""Small `.tflite` files with metadata, which the app's tests read: `data/metadata_*.tflite`.

    python -m tests.android.metadata_files    # writes the files anew

`test_metadata_files.py` checks that they are up to date.
"""

import pathlib

from hsvit_runtime import metadata
from hsvit_runtime.description import Description
from hsvit_runtime.litert import metadata_schema
from tests.runtime.litert.builder import Builder

FOLDER = pathlib.Path(__file__).parent / "data"
CLASSES = ("tabby", "größe, mit Komma", "zebra")

# What torchvision's models are trained with, times 255.
MEANS, STDS = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


def contents():
    """dict of file names and bytes."""
    named = Description(input_range=(-1.0, 1.0), class_names=CLASSES)
    return {
        "metadata_signed.tflite": metadata.write(_model().content([0], [1]), named, name="signed"),
        "metadata_other.tflite": _range(-0.5, 2.0),
        "metadata_colours.tflite": _with_entry(_of_colours()),
        "metadata_damaged.tflite": _with_entry(b"\x40\0\0\0M001"),
        "metadata_none.tflite": _model().content([0], [1]),
    }


def _model():
    builder = Builder()
    image, scores = builder.tensor((1, 8, 8, 3), name="image"), builder.tensor((1, 3), name="scores")
    builder.op("MEAN", [image, builder.constant([1, 2], "int32")], [scores])
    return builder


def _range(low, high):
    return metadata.write(_model().content([0], [1]), Description(input_range=(low, high)), name="other")


def _of_colours():
    units = [{"options": {"NormalizationOptions": {"mean": MEANS, "std": STDS}}}]
    graph = {"input_tensor_metadata": [{"name": "image", "process_units": units}]}
    graph["output_tensor_metadata"] = [{"name": "scores"}]
    return metadata_schema.pack({"name": "colours", "subgraph_metadata": [graph]})


def _with_entry(content):
    builder = _model()
    builder.metadata(metadata.STANDARD, content)
    return builder.content([0], [1])


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in contents().items():
        (FOLDER / name).write_bytes(content)
        print(FOLDER / name, len(content), "bytes")
