"""PiT as timm names it."""

from hsvit_keras.checkpoints import pit as original


def load(model, tensors):
    """Sets the weights of `model` from timm's tensors: a pooling is within the stage behind it."""
    original.load(model, tensors, pools=lambda number: f"transformers.{number + 1}.pool")
