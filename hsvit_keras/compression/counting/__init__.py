"""Counts of a model: multiply-adds of its convolutions and matrix products, and trainable parameters.

Nothing is counted by the class of a layer: the backend traces the model, and each operation of the trace says
what it multiplies. So layers and functions of any origin count, those of the backend itself, too.

- `model`: the counts of a model;
- `programs`: what a trace is read as, and its multiply-adds;
- `jax_programs`, `tensorflow_programs`: traces of each backend.
"""

from hsvit_keras.compression.counting.model import count_multiply_adds, count_parameters

__all__ = ["count_multiply_adds", "count_parameters"]
