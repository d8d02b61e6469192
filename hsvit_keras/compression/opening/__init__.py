"""Opening: rewrites stock layers that passes cannot look into as plain layers of the graph.

- `activations`: functions of the backend as Keras' own;
- `attention`: Keras' attention layers as projections around our attention core;
- `operations`: plain operations, such as `x + y`, as layers;
- `patches`: `keras.ops.image.extract_patches` as a convolution;
- `separable`: separable convolutions as two convolutions;
- `rewriting`: the pass `open_layers`.
"""

from hsvit_keras.compression.opening.rewriting import open_layers

__all__ = ["open_layers"]
