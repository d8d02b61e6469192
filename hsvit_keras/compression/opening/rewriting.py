"""The pass that opens all layers and operations of a graph that can be opened."""

from hsvit_keras.compression.equality import checked
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.opening.activations import openings_of_activations
from hsvit_keras.compression.opening.attention import openings_of_attention
from hsvit_keras.compression.opening.operations import openings_of_operations
from hsvit_keras.compression.opening.patches import openings_of_patches
from hsvit_keras.compression.opening.separable import openings_of_separable_convolutions
from hsvit_keras.compression.rewriting import rewrite


def open_layers(model, keep=(), check=True):
    """Rewrites layers that passes cannot look into as plain layers that compute the same.

    - `MultiHeadAttention` and `GroupQueryAttention` become Dense layers `..._query`, `..._key`, `..._value`
      and `..._output` around a `SoftmaxAttention` with the name of the layer. Layers are kept that have
      gates, windows or constraints, that are called with masks or for scores, or that read anything but
      tokens `(batch, tokens, dim)` of a fixed number.
    - `keras.ops.image.extract_patches` becomes a convolution: where a Dense layer projects the patches, one
      with its kernel and its name; else a frozen one that copies pixels.
    - Activations given as functions of the backend, such as `tf.nn.relu`, become Keras' own.
    - Separable convolutions become a depthwise convolution `..._depthwise` and one of single pixels.
    - Operations such as `x + y`, `2 * x` and `ops.reshape(x, shape)` become the layers that compute the same.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.
        keep: sequence of str, paths of layers that are kept, or of models whose layers all are.
        check: bool, whether to compare the outputs of both models on one random batch.

    Returns:
        A `keras.Model`; `model` itself if there is nothing to open.

    Raises:
        InputError: `model` is neither Functional nor Sequential, or has no input shape.
        PassError: the outputs differ.
    """
    graph = Graph(model)
    openings = [
        *openings_of_activations(graph),
        *openings_of_operations(graph),
        *openings_of_attention(graph, keep),
        *openings_of_separable_convolutions(graph, keep),
        *openings_of_patches(graph),  # which may take an operation behind them along
    ]
    if not openings:
        return model
    replacements = {path: new for opening in openings for path, new in opening.replacements.items()}
    calls = {path: call for opening in openings for path, call in opening.calls.items()}

    def call(path, layer, *args, **kwargs):
        return calls.get(path, layer)(*args, **kwargs)

    copy = rewrite(graph, lambda path, layer: replacements.get(path), call)
    for opening in openings:
        for layer, trainable in opening.trainable.items():
            layer.trainable = trainable
    return checked(model, copy, "open_layers", check)
