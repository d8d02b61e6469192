"""The pass that removes parts: it chooses the parts to keep, then cuts the weights of all affected layers."""

import collections
import functools

import keras
import numpy as np

from hsvit_keras.compression.equality import checked
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.rewriting import config_of, rewrite
from hsvit_keras.compression.slimming.cuts import are_kept
from hsvit_keras.compression.slimming.parts import find_places, opened
from hsvit_keras.compression.slimming.residuals import find_residuals
from hsvit_keras.compression.slimming.scores import SCORES, part_scores, weight_scores
from hsvit_keras.layers import NystromAttention, PerformerAttention
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
    check=True,
):
    """Removes parts of a model, which makes it smaller and faster on any runtime.

    Each argument says which parts are kept: an int is their number, a float their share, a list names the
    parts themselves. `slimmable_parts` lists the parts of a model. Parts without an argument are all kept.

    The outputs are those of the original model with the outputs of the removed parts set to zero, and with
    removed groups left out of the mean over groups. There is one exception: Performer's softmax kernel shifts
    by a maximum over all heads, as do Performer and Nystrom with `batch_maximum`. Removed heads no longer
    count in this maximum, which changes the outputs by a small amount.

    Keras' attention layers are opened first, see `open_layers`, so that they have heads.

    A few epochs of training recover most of the accuracy; quantize after that.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.
        groups: int, float in (0, 1], or list of int: attention groups to keep, each with its kernels.
        heads: int or float: heads to keep in every attention layer (of HSViT: in each group); or a dict from
            the path of an attention layer to an int, a float or a list of int.
        mlp_units: the same for hidden units, by the path of the Dense layer that computes them.
        kernels: the same for kernels, by the path of the convolution.
        blocks: int, float, or list of str: residuals to keep, by the paths of their Add layers. A
            transformer block has two residuals.
        score: str, how the parts to keep are chosen: by `"weight"`, the mean square of all weights of a part;
            `"gain"`, the mean gain of the batch normalization after it; or `"taylor"`, the mean
            |weight * gradient of the cross-entropy|.
        batches: iterable of (images, labels), for `score="taylor"`. Labels are class indices `(batch,)` or
            probabilities `(batch, classes)`.
        check: bool, whether to compare the outputs with those of the original model with zeros in place of
            the removed parts, on one random batch; where they have to be equal, see above.

    Returns:
        A `keras.Model` with the same layer names, without those of removed blocks.

    Raises:
        InputError: the model has no such parts, or fewer than asked for; no part would be kept; `score` is
            unknown or needs `batches`; or `model` is quantized, or neither Functional nor Sequential.
        PassError: the outputs differ.

    Example:

    ```python
    model = hsvit_keras.create_model("hsvit_c2a2", input_shape=(32, 32, 3))
    half = hsvit_keras.slim(model, groups=8, kernels=0.5)
    ```
    """
    check_choice("score", score, SCORES)
    model = opened(model)
    graph = Graph(model)
    places, residuals = find_places(graph), find_residuals(graph)
    scores = functools.cache(lambda: weight_scores(model, score, batches))

    arguments = {
        "groups": groups, "heads": heads, "mlp_units": mlp_units, "kernels": kernels, "blocks": blocks,
    }  # fmt: skip
    if isinstance(as_plain(blocks), tuple):  # blocks are listed by name, other parts by number
        names = [graph.path(residual.add) for residual in residuals]
        _check_names("blocks", blocks, names)
        arguments["blocks"] = [names.index(name) for name in blocks]
    kept_parts = {
        (kind, name): _kept(kind, name, keep, places[kind][name], scores)
        for kind, argument in arguments.items()
        for name, keep in _by_layer(kind, argument, places[kind]).items()
    }

    cuts, branches = collections.defaultdict(list), collections.defaultdict(list)
    shortcuts = {}  # from the path of the Add layer of a removed block to the index of its shortcut
    if blocks is not None:
        kept = kept_parts.pop(("blocks", "blocks"))
        shortcuts = {graph.path(x.add): x.shortcut for i, x in enumerate(residuals) if i not in kept}
        for cut in places["blocks"]["blocks"].cuts:
            branches[graph.path(cut.layer)].append((cut, kept))
    for (kind, name), kept in kept_parts.items():
        for cut in places[kind][name].cuts:
            cuts[graph.path(cut.layer)].append((cut, kept))

    operations = {
        graph.path(x): _slimmed_operation(x, cuts[graph.path(x)])
        for x in graph.operations
        if not isinstance(x, keras.Layer)
    }

    def call(path, layer, *args, **kwargs):
        if path in shortcuts:
            return args[0][shortcuts[path]]
        return operations.get(path, layer)(*args, **kwargs)

    slimmed = rewrite(graph, lambda path, layer: _slimmed(layer, cuts[path]), call)
    if check and groups is None and not _share_a_maximum(cuts):
        zeroed = rewrite(graph, lambda path, layer: _zeroed(layer, cuts[path] + branches[path]))
        checked(zeroed, slimmed, "slim")
    return slimmed


def _share_a_maximum(cuts):
    """Whether a layer whose heads depend on each other loses some of them."""
    layers_cut = [cut.layer for entries in cuts.values() for cut, _ in entries]
    return any(isinstance(layer, NystromAttention | PerformerAttention) for layer in layers_cut)


def _zeroed(layer, cuts):
    """A layer and its weights, zeros where it reads removed parts; None if it reads none."""
    readers = [(cut, kept) for cut, kept in cuts if cut.output is None and cut.weights]
    if not readers:
        return None
    weights = layer.get_weights()
    for cut, kept in readers:
        for index, (axis, parts) in cut.weights.items():
            shape = [1] * weights[index].ndim
            shape[axis] = -1
            weights[index] = weights[index] * are_kept(parts, kept).reshape(shape)
    return type(layer).from_config(config_of(layer)), weights


def _by_layer(kind, argument, places):
    """An argument of `slim` as a dict from a layer's path to what is kept of its parts."""
    if argument is None:
        return {}
    if not places:
        raise InputError(f"the model has no {kind} that could be removed; received {kind}={argument!r}")
    if not isinstance(argument, dict):
        return dict.fromkeys(places, argument)
    _check_names(kind, argument, places)
    return argument


def _check_names(kind, names, known):
    for name in names:
        if name not in known:
            raise InputError(f"{kind} names {name!r}, but the model has only {', '.join(known)}")


def _kept(kind, name, keep, place, scores):
    """The numbers of the parts to keep, in ascending order.

    Args:
        kind: str, such as "heads".
        name: str, the layer that has the parts.
        keep: int, float or sequence of int, see `slim`.
        place: `Place`.
        scores: function without arguments that returns `weight_scores`.
    """
    keep, count = as_plain(keep), place.count
    if isinstance(keep, float) and 0 < keep <= 1:
        keep = max(1, round(keep * count))
    if type(keep) is int and 1 <= keep <= count:
        if keep == count:
            return range(count)
        best_first = np.argsort(-part_scores(name, place, scores()), kind="stable")
        return sorted(best_first[:keep].tolist())
    if isinstance(keep, tuple) and keep and all(type(i) is int and 0 <= i < count for i in keep):
        return sorted(set(keep))
    of_layer = "" if kind in ("groups", "blocks") else f" of {name!r}"
    raise InputError(
        f"{kind} has to be the number to keep, 1 to {count}{of_layer}, a share in (0, 1], or a list of "
        f"numbers from 0 to {count - 1}; received {keep!r}"
    )


def _slimmed(layer, cuts):
    """(smaller layer, its weights), or None if there is nothing to cut.

    Args:
        layer: `keras.Layer`.
        cuts: list of (`Cut`, numbers of the parts to keep).
    """
    if not cuts:
        return None
    config, weights = config_of(layer), layer.get_weights()
    axes = [((i, axis), parts, kept) for cut, kept in cuts for i, (axis, parts) in cut.weights.items()]
    for (index, axis), is_kept in _intersections(axes):
        weights[index] = np.compress(is_kept, weights[index], axis)
    _set_sizes(config, cuts)
    try:
        return type(layer).from_config(config), weights
    except TypeError as error:  # Keras adds the whole config to the message of the constructor
        raise InputError(f"{layer.name!r} cannot be that small: {error.__context__}") from error


def _slimmed_operation(operation, cuts):
    """An operation that is no layer, with its smaller sizes; the same one if it has none."""
    config = {name: getattr(operation, name) for cut, _ in cuts for name, _ in cut.sizes}
    if not config:
        return operation
    _set_sizes(config, cuts)
    return type(operation)(**config)


def _set_sizes(config, cuts):
    sizes = [(argument, parts, kept) for cut, kept in cuts for argument, parts in cut.sizes.items()]
    for argument, is_kept in _intersections(sizes):
        if isinstance(config.get(argument), list | tuple):  # it has an entry for each part
            config[argument] = np.compress(is_kept, config[argument]).tolist()
        else:
            _set_size(config, argument, int(is_kept.sum()))


def _intersections(entries):
    """What is kept of each axis, of which several kinds of parts may be removed.

    Args:
        entries: list of (key of an axis, part of each entry of it, numbers of the parts to keep).

    Returns:
        Pairs of a key and an array of bool, whether each entry is kept.
    """
    kept_of = {}
    for key, parts, kept in entries:
        kept_of[key] = kept_of.get(key, True) & are_kept(parts, kept)
    return kept_of.items()


def _set_size(config, argument, size):
    """Sets an argument, or an element of a sequence unless that is None or -1, a size of any value."""
    if isinstance(argument, str):
        config[argument] = size
        return
    argument, index = argument
    sizes = list(config[argument])
    if sizes[index] not in (None, -1):
        sizes[index] = size
    config[argument] = tuple(sizes)
