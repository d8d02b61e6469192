"""A weight that other layers and operations of the graph read."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("hsvit_keras")
class OwnWeight(keras.layers.Layer):
    """A weight that other layers and operations of the graph read, such as a scale or positions.

    Args:
        shape: tuple of int, that of the weight.
        weight_dtype: str, that of the weight; its values are cast as the dtype policy says.
        initializer: Keras' initializer of the weight, or its name; Keras' default without.

    Call arguments:
        inputs: Tensor that places the layer in the graph; its values are not read.

    Returns:
        Tensor of shape `shape`.
    """

    def __init__(self, shape, weight_dtype="float32", initializer=None, **kwargs):
        super().__init__(**kwargs)
        self.shape = tuple(shape)
        self.weight_dtype = weight_dtype
        self.initializer = keras.initializers.get(initializer)

    def build(self, input_shape):
        self.weight = self.add_weight(
            shape=self.shape, dtype=self.weight_dtype, initializer=self.initializer, name="weight"
        )
        self.built = True

    def call(self, inputs):
        return ops.convert_to_tensor(self.weight)

    def get_config(self):
        return {
            **super().get_config(),
            "shape": self.shape,
            "weight_dtype": self.weight_dtype,
            "initializer": self.initializer and keras.initializers.serialize(self.initializer),
        }
