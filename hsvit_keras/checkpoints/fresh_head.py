"""A head for other classes on a model with imported weights."""

_HEADS = ("head", "head_distillation")  # layers whose weights depend on the classes


def with_weights_of(source, model):
    """Sets the weights of a model to those of another, those of the heads excepted.

    Args:
        source: `keras.Model`.
        model: `keras.Model` of the same layers.

    Returns:
        `model`.
    """
    for layer in model.layers:
        if layer.weights and layer.name not in _HEADS:
            layer.set_weights(source.get_layer(layer.name).get_weights())
    return model
