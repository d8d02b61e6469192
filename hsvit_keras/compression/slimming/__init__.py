"""Slimming (structured pruning): removes parts of a model, so that it gets smaller and faster.

- `cuts`: parts along an axis, and what a layer loses;
- `layer_rules`, `operation_rules`: what a layer or operation that reads features loses, by its class;
- `features`: follows features through a graph, by these rules;
- `parts`: finds the groups, heads, MLP units, kernels and blocks that can be removed;
- `residuals`: finds the residual blocks;
- `scores`: rates the importance of each part;
- `removal`: the pass `slim`.
"""

from hsvit_keras.compression.slimming.parts import slimmable_parts
from hsvit_keras.compression.slimming.removal import slim

__all__ = ["slim", "slimmable_parts"]
