"""What the pass needs to know to open a layer or an operation."""

from typing import NamedTuple


class Opening(NamedTuple):
    """How a layer or an operation is opened.

    Attributes:
        replacements: dict from a path to (the new layer of that name, its weights).
        calls: dict from a path to a function that is called in place of the layer or operation there.
        trainable: dict from each inserted layer that has weights to a bool, whether it is trained.
    """

    replacements: dict
    calls: dict
    trainable: dict
