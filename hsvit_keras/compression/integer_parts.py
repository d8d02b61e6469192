"""Which parts of a graph compute with integers by a scheme, and which outputs have ranges for it."""

import functools

import keras
from keras import layers

from hsvit_keras.compression.schemes import kind_of

# Activations that an artifact computes within the integer layer before them.
FUSED_ACTIVATIONS = (keras.activations.relu, keras.activations.relu6)
# Ranges of what integer kernels give in fixed steps, whatever their values are: multiples of 1/256 and 1/128.
FIXED_RANGES = {
    keras.activations.sigmoid: (0.0, 255 / 256),
    keras.activations.tanh: (-1.0, 127 / 128),
}
# Layers of a product or a sum, at whose end an artifact applies the activation.
_FUSING = (
    layers.Add, layers.BatchNormalization, layers.Conv1D, layers.Conv1DTranspose, layers.Conv2D,
    layers.Conv2DTranspose, layers.Dense, layers.DepthwiseConv1D, layers.DepthwiseConv2D, layers.EinsumDense,
    layers.Multiply, layers.Normalization, layers.Rescaling, layers.Subtract,
)  # fmt: skip


class IntegerParts:
    """What computes with integers in a graph.

    Args:
        graph: `Graph`, after whatever is folded or separated.
        scheme: `Scheme`.
        paths: set of str, those of the layers that may be quantized.
        known: dict from a path to (low, high), ranges that are known beforehand.

    Attributes:
        ranges: dict from the path of each layer whose output has a range to the path that names the range;
            outputs that share one have the same.
        symmetric: set of str, names in `ranges` whose ranges have to be symmetric.
    """

    def __init__(self, graph, scheme, paths, known):
        self._graph, self._scheme, self._paths, self._known = graph, scheme, paths, known
        self._reads_integers = functools.cache(self._find_reads_integers)
        self._feeds_integers = functools.cache(self._find_feeds_integers)
        self.ranges, symmetric = {}, set()
        for layer in graph.operations:
            sources = [self.sources(producer) for producer in graph.producers(layer)]
            if self.is_integer(layer):
                own = {self._fused_activation(layer) or graph.path(layer)}
                self._add(own, *sources)
                if kind_of(layer) in scheme.sharing and self.can_share(layer):
                    self._join(set().union(own, *sources))
            symmetric.update(*(sources[i] for i in scheme.symmetric.get(kind_of(layer), ())))
        self.symmetric = {self.ranges[path] for path in symmetric if path in self.ranges}

    def is_integer(self, layer):
        """Whether a layer computes with integers."""
        if self._graph.path(layer) not in self._paths:
            return False
        if kind_of(layer) in self._scheme.sharing:
            return self.can_share(layer)
        if kind_of(layer) in self._scheme.between:
            return self._reads_integers(layer) and self._feeds_integers(layer)
        return kind_of(layer) in self._scheme.integer

    def can_share(self, layer):
        """Whether a layer can have the range of all that it reads: of one model, none known beforehand."""
        paths = set().union(*map(self.sources, self._graph.producers(layer)), {self._graph.path(layer)})
        return not paths & set(self._known) and len({path.rpartition("/")[0] for path in paths}) == 1

    def sources(self, layer):
        """The paths of the layers that compute the values of `layer`, before those that only move them."""
        if kind_of(layer) not in self._scheme.transparent:
            return {self._graph.path(layer)}
        return set().union(*map(self.sources, self._graph.producers(layer)))

    def _find_reads_integers(self, layer):
        """Whether all that a layer reads are integers, or inputs of the model."""
        return all(map(self._gives_integers, self._graph.producers(layer)))

    def _gives_integers(self, layer):
        if isinstance(layer, layers.InputLayer):
            return "float" in layer.output.dtype
        if kind_of(layer) in self._scheme.transparent or self._is_fused(layer):
            return all(map(self._gives_integers, self._graph.producers(layer)))
        return self.is_integer(layer)

    def _find_feeds_integers(self, layer):
        """Whether all that reads a layer are integers, of which there are some."""
        if self._graph.is_output(layer):
            return False
        readers = self._graph.consumers(layer)
        return bool(readers) and all(map(self._takes_integers, readers))

    def _takes_integers(self, layer):
        kind = kind_of(layer)
        if self._graph.path(layer) not in self._paths:
            return False
        if kind in self._scheme.transparent or kind in self._scheme.between or self._is_fused(layer):
            return self._feeds_integers(layer)
        return self.is_integer(layer)

    def _is_fused(self, layer):
        """Whether a layer is an activation at the end of the one before it."""
        producers = self._graph.producers(layer)
        return len(producers) == 1 and self._fused_activation(producers[0]) == self._graph.path(layer)

    def _fused_activation(self, layer):
        """The path of the ReLU that an artifact computes within `layer`; None if there is none."""
        readers = self._graph.consumers(layer)
        is_read_once = len(readers) == 1 and not self._graph.is_output(layer)
        is_fused = is_read_once and isinstance(layer, _FUSING) and is_fusible(readers[0])
        return self._graph.path(readers[0]) if is_fused else None

    def _add(self, *groups):
        for path in set().union(*groups):
            self.ranges.setdefault(path, path)

    def _join(self, paths):
        """Gives the outputs of layers one range, and those that share theirs already."""
        names = {self.ranges[path] for path in paths}
        name = next(path for path, found in self.ranges.items() if found in names)
        self.ranges |= {path: name for path, found in self.ranges.items() if found in names}


def is_fusible(layer):
    """Whether a layer is a plain ReLU or ReLU6."""
    if isinstance(layer, layers.Activation):
        return layer.activation in FUSED_ACTIVATIONS
    is_relu = isinstance(layer, layers.ReLU) and not layer.negative_slope and not layer.threshold
    return is_relu and layer.max_value in (None, 6)
