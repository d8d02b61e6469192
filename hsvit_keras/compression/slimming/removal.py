"""The pass that removes parts: chooses what stays, then cuts the weights of all layers concerned."""

import collections
import functools

import numpy as np

from hsvit_keras.compression.rewriting import Graph, rewrite
from hsvit_keras.compression.slimming.parts import find_places
from hsvit_keras.compression.slimming.residuals import find_residuals
from hsvit_keras.compression.slimming.scores import SCORES, entry_worths, part_worths
from hsvit_keras.models.blocks import check_choice
from hsvit_keras.models.image_model import as_plain
from hsvit_runtime.errors import InputError


def slim(
    model,
    *,
    groups=None,
    heads=None,
    mlp_units=None,
    kernels=None,
    blocks=None,
    score="weight",
    batches=None,
):
    """Removes parts of a model for good: it gets smaller and faster without any special runtime.

    Each argument says what stays: an int, how many; a float, which share of them; or the parts themselves.
    `slimmable_parts` tells what there is. What is not mentioned stays whole.

    The model answers as if all that the removed parts give to others were zero, and their group were not in
    the mean of the groups. One thing differs: removed heads of Performer (softmax kernel) no longer
    count in the maximum that its heads share, which changes answers by a small constant's share; so do
    those of Performer and Nystrom with `batch_maximum`.

    A few epochs of training bring back most of the accuracy; quantize after that.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It stays as it is.
        groups: int, float in (0, 1], or list of int: attention groups that stay, each with its kernels.
        heads: int or float: heads that stay in every attention layer (of HSViT: in each group); or a dict
            from the name of an attention layer to int, float or list of int.
        mlp_units: the same for hidden units, by the name of the Dense layer that makes them.
        kernels: the same for kernels, by the name of the convolution.
        blocks: int, float, or list of str: residuals that stay, by the names of their Add layers. A
            transformer block is two residuals.
        score: str, what tells which parts stay: `"weight"`, the mean square of all weights that go with
            the part; `"gain"`, the mean gain of batch normalization behind it; `"taylor"`, the mean
            |weight * gradient of the cross-entropy|.
        batches: iterable of (images, labels), for `score="taylor"`. Labels are classes `(batch,)` or shares
            `(batch, classes)`.

    Returns:
        A `keras.Model` with the same layer names, less those of removed blocks.

    Raises:
        ValueError: there are no such parts, or not so many, or none would be left; there is no such score,
            or no batches for it; `model` is quantized, or has no graph that could be followed.

    Example:

    ```python
    model = hsvit_keras.create_model("hsvit_c2a2", input_shape=(32, 32, 3))
    half = hsvit_keras.slim(model, groups=8, kernels=0.5)
    ```
    """
    check_choice("score", score, SCORES)
    graph = Graph(model)
    places, residuals = find_places(graph), find_residuals(graph)
    worths = functools.cache(lambda: entry_worths(graph.model, score, batches))

    wishes = {"groups": groups, "heads": heads, "mlp_units": mlp_units, "kernels": kernels, "blocks": blocks}
    if isinstance(as_plain(blocks), tuple):  # blocks are named, all else is numbered
        names = [residual.add.name for residual in residuals]
        _check_names("blocks", blocks, names)
        wishes["blocks"] = [names.index(name) for name in blocks]
    stays = {
        (kind, name): _indices(kind, name, keep, places[kind][name], worths)
        for kind, wish in wishes.items()
        for name, keep in _by_place(kind, wish, places[kind]).items()
    }

    bridged = {}
    if blocks is not None:
        kept = stays.pop(("blocks", "blocks"))
        bridged = {x.add.name: x.shortcut for i, x in enumerate(residuals) if i not in kept}
    cuts = collections.defaultdict(list)
    for (kind, name), kept in stays.items():
        for cut in places[kind][name].cuts:
            cuts[cut.layer.name].append((cut, kept))

    def call(layer, *args, **kwargs):
        return args[0][bridged[layer.name]] if layer.name in bridged else layer(*args, **kwargs)

    return rewrite(graph.model, lambda layer: _smaller(layer, cuts[layer.name]), call)


def _by_place(kind, wish, places):
    """What is wished for each place: a dict says it for each apart, anything else is for all."""
    if wish is None:
        return {}
    if not places:
        raise InputError(f"the model has no {kind} that could be removed; received {kind}={wish!r}")
    if not isinstance(wish, dict):
        return dict.fromkeys(places, wish)
    _check_names(kind, wish, places)
    return wish


def _check_names(kind, names, known):
    for name in names:
        if name not in known:
            raise InputError(f"{kind} names {name!r}; the model has {', '.join(known)}")


def _indices(kind, name, keep, place, worths):
    """The numbers of the parts that stay, in their order."""
    keep, count = as_plain(keep), place.count
    if isinstance(keep, float) and 0 < keep <= 1:
        keep = max(1, round(keep * count))
    if type(keep) is int and 1 <= keep <= count:
        if keep == count:
            return range(count)
        best_first = np.argsort(-part_worths(name, place, worths()), kind="stable")
        return sorted(best_first[:keep].tolist())
    if isinstance(keep, tuple) and keep and all(type(i) is int and 0 <= i < count for i in keep):
        return sorted(set(keep))
    where = "" if kind in ("groups", "blocks") else f" of {name!r}"
    raise InputError(
        f"{kind} has to keep 1 to {count}{where}, a share in (0, 1], or a list of their numbers from 0 on; "
        f"received {keep!r}"
    )


def _smaller(layer, cuts):
    """The layer with all cuts made, and its weights; None where there are none."""
    if not cuts:
        return None
    config, weights = layer.get_config(), layer.get_weights()
    for cut, stays in cuts:
        for index, numbered in cut.weights.items():
            weights[index] = np.compress(np.isin(numbered.parts, stays), weights[index], numbered.axis)
        for argument, parts in cut.sizes.items():
            _set_size(config, argument, int(np.isin(parts, stays).sum()))
    try:
        return type(layer).from_config(config), weights
    except TypeError as error:  # Keras wraps what the constructor says into all of the config
        raise InputError(f"{layer.name!r} cannot be that small: {error.__context__}") from error


def _set_size(config, argument, size):
    """Sets an argument, or an element of it unless it is open."""
    if isinstance(argument, str):
        config[argument] = size
        return
    argument, index = argument
    sizes = list(config[argument])
    if sizes[index] not in (None, -1):
        sizes[index] = size
    config[argument] = tuple(sizes)
