"""How a detector's deformable attention samples maps in an artifact, and what the other form would cost.

Gathers are not run by XNNPACK, so that each cuts the graph in two; hat functions are, at a cost that grows
with the map, see `hsvit_keras.layers.bilinear_sampling`.
"""

import contextlib
import math

from hsvit_keras.layers import DeformableAttention
from hsvit_runtime import inspection

FORMS = ("gathers", "hat_functions")
_LARGEST = 2**28  # bytes of a tensor, beyond which a form is not tried


def sampling_of(lowered, convert):
    """The entries of a report about sampling.

    Args:
        lowered: `keras.Model` made by `hsvit_keras.artifacts.lowering.lower`.
        convert: function from that to the content of its file.

    Returns:
        dict, empty without deformable attention. Its `sampling` has `levels`, from a layer's name to a list
        of `{size, form}`; and `gathers` and `hat_functions`, the `partitions` and `total_macs` of the file if
        all levels were sampled so, or None where that takes too much memory.
    """
    found = [layer for layer in lowered._flatten_layers() if isinstance(layer, DeformableAttention)]
    if not found:
        return {}
    levels = {
        layer.name: [
            {"size": list(size), "form": form}
            for size, form in zip(layer.map_sizes, layer.forms(layer.output.shape[-1]), strict=True)
        ]
        for layer in found
    }
    return {"sampling": {"levels": levels, **{form: _costs(lowered, found, form, convert) for form in FORMS}}}


def _costs(lowered, found, form, convert):
    if form == "hat_functions" and max(map(_largest_tensor, found)) > _LARGEST:
        return None
    with _sampling_by(form, found):
        facts = inspection.inspect(convert(lowered))
    return {name: facts[name] for name in ("partitions", "total_macs")}


def _largest_tensor(layer):
    """Bytes of the weights of all pixels of the largest map, for all queries and heads."""
    pixels = max(map(math.prod, layer.map_sizes))
    return 4 * layer.num_heads * layer.output.shape[1] * pixels


@contextlib.contextmanager
def _sampling_by(form, found):
    before = [layer.sampling for layer in found]
    try:
        for layer in found:
            layer.sampling = form
        yield
    finally:
        for layer, own in zip(found, before, strict=True):
            layer.sampling = own
