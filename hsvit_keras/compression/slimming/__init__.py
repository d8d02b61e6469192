"""Slimming: parts of a model are really removed.

- `features`: which weights go with some features, told by each class of layers;
- `parts`: which parts a graph has: groups, heads, units, kernels, blocks;
- `residuals`: where a block can be bridged;
- `scores`: how much each part is worth;
- `removal`: the pass.
"""

from hsvit_keras.compression.slimming.parts import slimmable_parts
from hsvit_keras.compression.slimming.removal import slim

__all__ = ["slim", "slimmable_parts"]
