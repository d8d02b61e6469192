"""Opening: rewrites layers that passes cannot look into as plain layers of the graph.

- `activations`: functions of the backend as Keras' own; layers given as activations as layers of the graph;
- `blocks`: layers that call layers, as models of these, by `tracing` their calls; what else they compute is
  made one for any batch by `traced_operations`;
- `attention`: Keras' attention layers as projections around our attention core;
- `operations`: plain operations, such as `x + y`, as layers;
- `patches`: `keras.ops.image.extract_patches` as a convolution;
- `padding`: padding with minus infinity in front of max pooling, as padding with pixels;
- `separable`: separable convolutions as two convolutions;
- `rewriting`: the pass `open_layers`, and `open_blocks` for blocks alone.
"""

from hsvit_keras.compression.opening.rewriting import open_blocks, open_layers

__all__ = ["open_blocks", "open_layers"]
