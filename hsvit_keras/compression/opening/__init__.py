"""Opening: rewrites stock layers that passes cannot look into as plain layers of the graph.

- `attention`: Keras' attention layers as projections around our attention core;
- `patches`: `keras.ops.image.extract_patches` as a convolution;
- `rewriting`: the pass `open_layers`.
"""

from hsvit_keras.compression.opening.rewriting import open_layers

__all__ = ["open_layers"]
