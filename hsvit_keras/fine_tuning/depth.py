"""How deep in a model each layer lies: what learning rates and freezing by depth go by.

Depth 0 is what stands in front of the first block, block i has depth i + 1, and the head, with its
normalization, is the deepest: BEiT's numbers (https://arxiv.org/abs/2106.08254, its program
optim_factory.py). A stage of convolutions is a block, and so is what leads from one stage to the next. A
model of another library has no such names: there twelve weights in turn make one depth, as in timm.
"""

import re

from hsvit_keras.compression.graph import Graph
from hsvit_keras.fine_tuning.heads import head_layers
from hsvit_keras.models.image_model import ImageModel

_WEIGHTS_A_DEPTH = 12  # timm's layers_per_group
_BLOCK = re.compile(r"(?:(?:stage|up)\d+)?_?(?:block\d+)?")


def depths(model):
    """The depth of each layer that has weights.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`.

    Returns:
        dict from a layer's path to an int, in the order of computation; the head has the largest.
    """
    graph = Graph(model)
    trunk = [(graph.path(layer), layer) for layer in graph.layers if layer.weights]
    if isinstance(model, ImageModel):
        heads = [path for path, _ in trunk if path.startswith("head")]
        found = _by_blocks([path for path, _ in trunk if path not in heads])
    else:
        heads = head_layers(model)
        found = _by_twelve([(path, layer) for path, layer in trunk if path not in heads])
    top = max(found.values(), default=-1) + 1
    return {**found, **dict.fromkeys(heads, top)}


def _by_blocks(names):
    depth, block, of_block, found = 0, "", {}, {}
    for name in names:
        block = _BLOCK.match(name)[0] or block
        if found and block not in of_block:
            depth += 1
        found[name] = of_block.setdefault(block, depth)
    return found


def _by_twelve(trunk):
    count, found = 0, {}
    for path, layer in trunk:
        found[path] = count // _WEIGHTS_A_DEPTH
        # Those that are trained by their nature, whether or not they are frozen.
        count += sum(len(inside._trainable_variables) for inside in layer._flatten_layers())
    return found
