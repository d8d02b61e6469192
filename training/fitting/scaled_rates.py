"""Optimizers in which each variable has a learning rate of its own, a share of the common one."""

import keras


class _ScaledRates:
    """What makes an optimizer of Keras one.

    The learning rate is that of a variable in its weight decay, too, as in PyTorch's groups of parameters.

    Args:
        scales: sequence of float, one for each variable that the optimizer is built with, in their order.
    """

    def __init__(self, *args, scales=(), **kwargs):
        super().__init__(*args, **kwargs)
        self.scales = tuple(scales)

    def update_step(self, gradient, variable, learning_rate):
        super().update_step(gradient, variable, learning_rate * self._scale_of(variable))

    def _apply_weight_decay(self, variables):
        if not self.weight_decay:
            return
        for variable in variables:
            if self._use_weight_decay(variable):
                share = self.learning_rate * self._scale_of(variable) * self.weight_decay
                self.assign_sub(variable, variable * share)

    def _scale_of(self, variable):
        return self.scales[self._get_variable_index(variable)]

    def get_config(self):
        return {**super().get_config(), "scales": self.scales}


@keras.saving.register_keras_serializable("hsvit_training")
class ScaledAdamW(_ScaledRates, keras.optimizers.AdamW):
    """AdamW."""


@keras.saving.register_keras_serializable("hsvit_training")
class ScaledAdam(_ScaledRates, keras.optimizers.Adam):
    """Adam."""


@keras.saving.register_keras_serializable("hsvit_training")
class ScaledSGD(_ScaledRates, keras.optimizers.SGD):
    """Descent with or without momentum."""
