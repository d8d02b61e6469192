"""Scores that rate the importance of the parts of a model.

Each entry of each weight has a score; the score of a part is the mean over its entries, so that parts of
different size, such as blocks, can be compared.
"""

import keras
import numpy as np
from keras import layers, ops

from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.rewriting import rewrite
from hsvit_keras.compression.slimming.cuts import NO_PART
from hsvit_runtime.errors import InputError

SCORES = ("weight", "gain", "taylor")


def weight_scores(model, score, batches=None):
    """The score of each entry of all weights that can be trained.

    Args:
        model: `keras.Model` as a Functional graph. It is not modified.
        score: str, one of `SCORES`: `"weight"`, the square of the weight; `"gain"`, the absolute gain of
            batch normalization; `"taylor"`, |weight * gradient of the cross-entropy|, summed over `batches`.
        batches: iterable of (images, labels), with labels as class indices `(batch, ...)` or as
            probabilities `(batch, ..., classes)`.

    Returns:
        dict from a layer of `model` to a dict from an index in its `weights` to an array of scores.

    Raises:
        InputError: `score` is "taylor" and there are no batches.
    """
    copy = rewrite(model)
    copy.trainable = True  # frozen layers have scores, too
    if score == "taylor":
        sums = _taylor_sums(copy, batches)
        by_path = _by_path(copy, lambda layer, weight: sums[id(weight)])
    elif score == "gain":
        by_path = _by_path(copy, _gain)
    else:
        by_path = _by_path(copy, lambda layer, weight: _array(weight) ** 2)
    graph = Graph(model)
    return {layer: by_path[graph.path(layer)] for layer in graph.layers}


def part_scores(name, place, scores):
    """The score of each part of a place.

    Args:
        name: str, the layer that has the parts, for messages.
        place: `Place`.
        scores: dict as returned by `weight_scores`.

    Returns:
        Array of shape `(parts,)`.

    Raises:
        InputError: no weight of a part has a score.
    """
    total, entries = np.zeros(place.count), np.zeros(place.count)
    for cut in place.cuts:
        for index, (axis, parts) in cut.weights.items():
            values = scores.get(cut.layer, {}).get(index)
            if values is not None:
                rows = np.moveaxis(values, axis, 0).reshape(len(parts), -1)
                of_parts = np.array(parts) != NO_PART
                numbers = np.array(parts)[of_parts]
                np.add.at(total, numbers, rows[of_parts].sum(axis=1))
                np.add.at(entries, numbers, rows.shape[1])
    if not entries.all():
        raise InputError(
            f"score='gain' needs batch normalization after the parts of {name!r}, which have none; "
            "score='weight' and score='taylor' use all weights"
        )
    return total / entries


def _by_path(model, score):
    """The scores of each layer by its path, from a function of a layer and one of its weights.

    Weights for which `score(layer, weight)` is None are left out.
    """
    graph, found = Graph(model), {}
    for layer in graph.layers:
        trainable = {id(weight) for weight in layer.trainable_weights}
        scores = {i: score(layer, w) for i, w in enumerate(layer.weights) if id(w) in trainable}
        found[graph.path(layer)] = {i: values for i, values in scores.items() if values is not None}
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
    inference_model, sums = _InferenceModel(model), None
    for images, labels in batches:
        if sums is None:
            crossentropy = keras.losses.CategoricalCrossentropy
            if np.ndim(labels) < len(model.output_shape):
                crossentropy = keras.losses.SparseCategoricalCrossentropy
            inference_model.compile(_TaylorSums(), crossentropy(from_logits=True), auto_scale_loss=False)
        inference_model.train_on_batch(images, labels)
        sums = inference_model.optimizer.sums
    if sums is None:
        raise InputError("score='taylor' needs batches; received an empty iterable")
    return {id(w): _array(total) for w, total in zip(model.trainable_weights, sums, strict=True)}


class _InferenceModel(keras.Model):
    """Runs a model as at inference in training steps: without dropout, with fixed statistics."""

    def __init__(self, model):
        super().__init__(name=model.name)
        self.model = model

    def call(self, images):
        return self.model(images, training=False)


class _TaylorSums(keras.optimizers.Optimizer):
    """Sums |weight * gradient| and does not change the weights.

    As an optimizer it gets the gradients from Keras, on every backend.
    """

    def __init__(self):
        super().__init__(learning_rate=1.0, name="taylor_sums")

    def build(self, variables):
        super().build(variables)
        self.sums = self.add_optimizer_variables(variables, "taylor")

    def update_step(self, gradient, variable, learning_rate):
        total = self.sums[self._get_variable_index(variable)]
        self.assign_add(total, ops.cast(ops.abs(gradient * variable), total.dtype))
