"""Slimming (structured pruning): removes parts of a model, so that it gets smaller and faster.

- `features`: which weights belong to a feature, with a rule for each class of layers;
- `parts`: finds the groups, heads, MLP units, kernels and blocks that can be removed;
- `residuals`: finds the residual blocks;
- `scores`: rates the importance of each part;
- `removal`: the pass `slim`.
"""

from hsvit_keras.compression.slimming.parts import slimmable_parts
from hsvit_keras.compression.slimming.removal import slim

__all__ = ["slim", "slimmable_parts"]
