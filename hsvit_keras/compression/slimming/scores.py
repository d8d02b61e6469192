"""How much each part of a model is worth.

A score gives each entry of each weight a worth; a part is worth the mean over all entries that go with it,
so that parts of different size, such as blocks, compare.
"""

import keras
import numpy as np
from keras import layers, ops

from hsvit_keras.compression.rewriting import rewrite
from hsvit_runtime.errors import InputError

SCORES = ("weight", "gain", "taylor")


def entry_worths(model, score, batches=None):
    """The worth of each entry of the trainable weights.

    Args:
        model: `keras.Model` as a Functional graph. It stays as it is.
        score: str, one of `SCORES`: `"weight"`, the square of the weight; `"gain"`, the size of the gain of
            batch normalization; `"taylor"`, |weight * gradient of the cross-entropy|, summed over `batches`.
        batches: iterable of (images, labels), labels as classes `(batch, ...)` or as their shares
            `(batch, ..., classes)`.

    Returns:
        A dict from the name of a layer to a dict from an index in its `weights` to an array.

    Raises:
        ValueError: Taylor without batches.
    """
    copy = rewrite(model)
    for layer in copy.layers:
        layer.trainable = True  # frozen layers are judged, too
    if score == "taylor":
        sums = _taylor_sums(copy, batches)
        return _by_layer(copy, lambda layer, weight: sums[id(weight)])
    if score == "gain":
        return _by_layer(copy, _gain)
    return _by_layer(copy, lambda layer, weight: _array(weight) ** 2)


def part_worths(name, place, worths):
    """The worth of each part of a place.

    Args:
        name: str, what to call the place.
        place: `Place`.
        worths: what `entry_worths` gives.

    Returns:
        Array of shape `(parts,)`.

    Raises:
        ValueError: a part has no entry with a worth.
    """
    total, entries = np.zeros(place.count), np.zeros(place.count)
    for cut in place.cuts:
        for index, numbered in cut.weights.items():
            worth = worths.get(cut.layer.name, {}).get(index)
            if worth is not None:
                rows = np.moveaxis(worth, numbered.axis, 0).reshape(len(numbered.parts), -1)
                np.add.at(total, list(numbered.parts), rows.sum(axis=1))
                np.add.at(entries, list(numbered.parts), rows.shape[1])
    if not entries.all():
        raise InputError(
            f"the parts of {name!r} have no batch normalization whose gain could be their score; "
            f"score='weight' and score='taylor' look at all weights"
        )
    return total / entries


def _by_layer(model, worth):
    """`worth(layer, weight)` of all trainable weights, where it is not None."""
    found = {}
    for layer in model.layers:
        trainable = {id(weight) for weight in layer.trainable_weights}
        worths = {i: worth(layer, w) for i, w in enumerate(layer.weights) if id(w) in trainable}
        found[layer.name] = {i: values for i, values in worths.items() if values is not None}
    return found


def _gain(layer, weight):
    if isinstance(layer, layers.BatchNormalization) and weight is layer.gamma:
        return np.abs(_array(weight))
    return None


def _array(tensor):
    return ops.convert_to_numpy(tensor).astype("float64")


def _taylor_sums(model, batches):
    """A dict from the id of a weight to |weight * gradient|, summed over batches."""
    if batches is None:
        raise InputError("score='taylor' needs batches, an iterable of (images, labels); received none")
    judged, sums = _InInference(model), None
    for images, labels in batches:
        if sums is None:
            crossentropy = keras.losses.CategoricalCrossentropy
            if np.ndim(labels) < len(model.output_shape):
                crossentropy = keras.losses.SparseCategoricalCrossentropy
            judged.compile(_TaylorSums(), crossentropy(from_logits=True), auto_scale_loss=False)
        judged.train_on_batch(images, labels)
        sums = judged.optimizer.sums
    if sums is None:
        raise InputError("score='taylor' needs batches; received an empty iterable")
    return {id(w): _array(total) for w, total in zip(model.trainable_weights, sums, strict=True)}


class _InInference(keras.Model):
    """A model that does not drop out and keeps its statistics while it is trained."""

    def __init__(self, model):
        super().__init__(name=model.name)
        self.model = model

    def call(self, images):
        return self.model(images, training=False)


class _TaylorSums(keras.optimizers.Optimizer):
    """Leaves the weights as they are and sums |weight * gradient|, on each backend by its own `fit`."""

    def __init__(self):
        super().__init__(learning_rate=1.0, name="taylor_sums")

    def build(self, variables):
        super().build(variables)
        self.sums = self.add_optimizer_variables(variables, "taylor")

    def update_step(self, gradient, variable, learning_rate):
        total = self.sums[self._get_variable_index(variable)]
        self.assign_add(total, ops.cast(ops.abs(gradient * variable), total.dtype))
