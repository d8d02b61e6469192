"""Standard TFLite metadata: what a `.tflite` file says of itself."""

from hsvit_runtime.description import Description


def read_description(path_or_content):
    """The `Description` in a `.tflite` file, an empty one where it has none."""
    return Description()
