"""The table of what each pass does with each layer of Keras, read from the tables of the passes."""

import pathlib

from keras import layers

from hsvit_keras.compression import folding, schemes
from hsvit_keras.compression.opening import separable
from hsvit_keras.compression.slimming import features
from hsvit_runtime import files
from hsvit_runtime.errors import InputError

BEGIN, END = "<!-- layers -->", "<!-- end of layers -->"
COLUMNS = ("layer", "`fold_batch_norm`", "`quantize_aware`, `calibrate`", "`slim`")


def write(output):
    """Replaces the table of a page.

    Args:
        output: str or path of a page that has the two marks.

    Returns:
        int, how many layers are in the table.

    Raises:
        InputError: the page has no marks.
        OSError: it cannot be read or written.
    """
    page = pathlib.Path(output).read_text("utf-8")
    if BEGIN not in page or END not in page:
        raise InputError(f"{output} has no table to replace: it stands between {BEGIN} and {END}")
    rows = list(table())
    lines = [_line(COLUMNS), _line(["---"] * len(COLUMNS)), *map(_line, rows)]
    front, _, rest = page.partition(BEGIN)
    with files.replacing(output) as temporary:
        temporary.write_text("\n".join([front + BEGIN, *lines, END]) + rest.partition(END)[2], "utf-8")
    return len(rows)


def table():
    """Yields a row for each layer of Keras that a pass knows, in alphabetical order."""
    scheme = schemes.SCHEMES["int8"]
    quantized = (scheme.integer, scheme.between, scheme.transparent, scheme.floating)
    known = set().union(*quantized, features.RULES, folding.SCALE_KERNEL, separable.PARTS)
    stock = {layer for layer in known if getattr(layers, layer.__name__, None) is layer}
    for layer in sorted(stock - {layers.InputLayer}, key=lambda layer: layer.__name__):
        yield f"`{layer.__name__}`", _folding(layer), _quantization(layer, scheme), _slimming(layer)


def _folding(layer):
    if layer is layers.BatchNormalization:
        return "is folded"
    return "takes it in" if layer in folding.SCALE_KERNEL else ""


def _quantization(layer, scheme):
    if layer in scheme.integer or layer in separable.PARTS:
        return "8 bits"
    if layer in scheme.between:
        return "8 bits between 8 bits"
    return "8 bits, moves values" if layer in scheme.transparent else "float"


def _slimming(layer):
    if layer in features.SOURCES:
        return "loses parts"
    return "follows" if layer in features.RULES else "keeps what it reads whole"


def _line(cells):
    return f"| {' | '.join(cells)} |"
