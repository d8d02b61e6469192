"""The pass that opens all layers and operations of a graph that can be opened."""

from hsvit_keras.compression.equality import checked
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.opening.activations import openings_of_activations
from hsvit_keras.compression.opening.attention import openings_of_attention
from hsvit_keras.compression.opening.blocks import openings_of_blocks
from hsvit_keras.compression.opening.openings import copy_with, has_masks
from hsvit_keras.compression.opening.operations import openings_of_operations
from hsvit_keras.compression.opening.padding import openings_of_padding
from hsvit_keras.compression.opening.patches import openings_of_patches
from hsvit_keras.compression.opening.positions import openings_of_positions
from hsvit_keras.compression.opening.separable import openings_of_separable_convolutions


def open_layers(model, keep=(), check=True):
    """Rewrites layers that passes cannot look into as plain layers that compute the same.

    - Blocks, layers whose code calls layers inside of them, become models with their name, so that
      `Dense(name="hidden")` in `Block(name="block")` has the path "block/hidden". Blocks are kept whose code
      a graph cannot say: they do something else in training, read weights of other layers, need the size of
      the batch, or have random numbers, regularizers or constraints of their own. `Lambda` layers become
      models of the operations that they consist of, in the same way.
    - `MultiHeadAttention` and `GroupQueryAttention` become Dense layers `..._query`, `..._key`, `..._value`
      and `..._output` around a `SoftmaxAttention` with the name of the layer. Layers are kept that have
      gates, windows or constraints, that are called with masks or for scores, or that read anything but
      tokens `(batch, tokens, dim)` of a fixed number.
    - `keras.ops.image.extract_patches` becomes a convolution: where a Dense layer projects the patches, one
      with its kernel and its name; else a frozen one that copies pixels.
    - Activations given as functions of the backend, such as `tf.nn.relu`, become Keras' own; those given as
      layers, such as `Dense(8, activation=LeakyReLU(0.1))`, become layers `..._activation` of the graph.
    - Separable convolutions become a depthwise convolution `..._depthwise` and one of single pixels.
    - Operations such as `x + y`, `2 * x` and `ops.reshape(x, shape)` become the layers that compute the same.
    - `SinePositionEmbedding` becomes a frozen `PositionEmbedding`, the sum of positions and levels.
    - Padding with minus infinity in front of max pooling becomes `EdgePadding2D`, where that is the same.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.
        keep: sequence of str, paths of layers that are kept, or of models or blocks of which all is.
        check: bool, whether to compare the outputs of both models on one random batch.

    Returns:
        A `keras.Model`; `model` itself if there is nothing to open.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or has no input shape.
        PassError: the outputs differ.
    """
    opened = open_blocks(model, keep)
    if not has_masks(Graph(opened)):  # layers read masks without being told so in their calls
        opened = _opened(opened, lambda graph: openings_of_attention(graph, keep))
    for find in (
        openings_of_patches,
        openings_of_padding,
        openings_of_positions,
        openings_of_activations,
        openings_of_operations,
        lambda graph: openings_of_separable_convolutions(graph, keep),
    ):
        opened = _opened(opened, find)
    return model if opened is model else checked(model, opened, "open_layers", check)


def open_blocks(model, keep=()):
    """Opens blocks alone, see `open_layers`, without comparing outputs."""
    if has_masks(Graph(model)):
        return model
    return _opened(model, lambda graph: openings_of_blocks(graph, keep))


def _opened(model, find):
    graph = Graph(model)
    openings = find(graph)
    return copy_with(graph, openings) if openings else model
