"""Counts of a model: multiply-adds of its convolutions and matrix products, and trainable parameters.

No multiplication is counted by the class of a layer: the backend traces the model, and each operation of the
trace says what it multiplies. So layers and functions of any origin count, those of the backend itself, too.

- `model`: the counts of a model;
- `layers`: how many convolutions and attentions it has;
- `programs`: what a trace is read as, and its multiply-adds;
- `jax_programs`, `tensorflow_programs`: traces of each backend.
"""

from hsvit_keras.compression.counting.layers import count_layers
from hsvit_keras.compression.counting.model import count_multiply_adds, count_parameters

__all__ = ["count_layers", "count_multiply_adds", "count_parameters"]
