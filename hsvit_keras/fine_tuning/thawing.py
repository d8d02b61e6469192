"""All layers of a model are trained."""


def thaw(model):
    """Sets `trainable` of a model and of all layers in it, at any depth.

    A model that is trainable itself does not pass that on to its layers when it is told so again.

    Args:
        model: `keras.Model`.
    """
    for layer in model._flatten_layers():
        layer.trainable = True
