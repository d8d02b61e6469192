"""Parts of a model that are not trained, some of them until an epoch."""

import fnmatch

from hsvit_keras.compression.graph import Graph
from hsvit_keras.fine_tuning import depths, head_layers, thaw
from hsvit_keras.models.registry import suggest
from hsvit_runtime.errors import InputError

_TRUNK = "trunk"


def freeze(model, values, epoch):
    """Freezes what a config has frozen in an epoch, and thaws everything else.

    Statistics of a frozen batch normalization stay as they are; dropout goes on.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`; to be compiled after that.
        values: plain config.
        epoch: int, from 0 on.

    Raises:
        InputError: no layer is meant by one of the parts, or nothing is left to train.
    """
    if not values["frozen"]:
        return
    graph = Graph(model)
    layers = {graph.path(layer): layer for layer in graph.layers if layer.weights}
    thaw(model)
    for part, until in values["frozen"]:
        paths = _paths(model, layers, part)  # a part that is not there shows in any epoch
        if until is None or epoch < until:
            for path in paths:
                layers[path].trainable = False
    if not model.trainable_variables:
        raise InputError(f"config.frozen={values['frozen']!r} leaves nothing to train in epoch {epoch + 1}")


def thaws(values):
    """The epochs in which a part thaws, counted from 0, in their order."""
    return sorted({until for _, until in values["frozen"] if until is not None and until < values["epochs"]})


def _paths(model, layers, part):
    if part == _TRUNK:
        heads = head_layers(model)
        if not heads:
            raise InputError(f"config.frozen: {model.name} has no head that could be trained alone")
        return [path for path in layers if path not in heads]
    if isinstance(part, int):
        found = depths(model)
        top = max(found.values())
        if part > top:
            raise InputError(
                f"config.frozen: the head of {model.name} has depth {top}, and all of it is below {part}"
            )
        return [path for path, depth in found.items() if depth < part]
    paths = fnmatch.filter(layers, part)
    if not paths:
        raise InputError(f"config.frozen: {model.name} has no layer {part!r}; {suggest(part, layers)}")
    return paths
