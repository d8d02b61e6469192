"""A learned factor for each channel."""

import keras


@keras.saving.register_keras_serializable("hsvit_keras")
class LayerScale(keras.layers.Layer):
    """Multiplies each channel by a learned factor, at the end of a residual branch.

    `fold_batch_norm` folds it into the kernel in front.

    Args:
        initial_value: float, all factors at first.

    Call arguments:
        inputs: Tensor of shape `(batch, ..., channels)`.

    Returns:
        Tensor of the same shape.

    References:
        - [Going deeper with Image Transformers](https://arxiv.org/abs/2103.17239), section 2
    """

    def __init__(self, initial_value=1.0, **kwargs):
        super().__init__(**kwargs)
        self.initial_value = initial_value

    def build(self, input_shape):
        self.gamma = self.add_weight(
            shape=input_shape[-1:],
            initializer=keras.initializers.Constant(self.initial_value),
            name="gamma",
        )
        self.built = True

    def call(self, inputs):
        return inputs * self.gamma

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "initial_value": self.initial_value}
