"""An approximation of GELU."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
def quick_gelu(x):
    """`x * sigmoid(1.702 x)`, a function for `keras.layers.Activation`.

    References:
        - [Gaussian Error Linear Units](https://arxiv.org/abs/1606.08415), section 2
    """
    return x * ops.sigmoid(1.702 * x)
