"""Fixed positions with an embedding of each level, as the plain sum of both, which does not learn."""

import keras

from hsvit_keras.compression.opening.openings import Opening
from hsvit_keras.layers import PositionEmbedding, SinePositionEmbedding


def openings_of_positions(graph):
    """How the `SinePositionEmbedding` layers of a graph are opened; those for images with padding are kept.

    Args:
        graph: `Graph`.

    Returns:
        list of `Opening`, one for each layer that is opened.
    """
    return [
        _opening(graph.path(layer), layer)
        for layer in graph.layers
        if isinstance(layer, SinePositionEmbedding) and layer.valid_sizes is None
    ]


def _opening(path, layer):
    plain = PositionEmbedding(name=layer.name, dtype=layer.dtype_policy.name)
    total = keras.ops.convert_to_numpy(layer.total(layer.level_embedding.shape[-1]))
    return Opening({path: (plain, [total[0]])}, {}, {plain: False})
