"""A trained model is the beginning of another: its trunk with its weights, and a new head."""

from hsvit_keras.fine_tuning.adaptation import adapt, resizing_for
from hsvit_keras.fine_tuning.depth import depths
from hsvit_keras.fine_tuning.heads import head_layers
from hsvit_keras.fine_tuning.thawing import thaw

__all__ = ["adapt", "depths", "head_layers", "resizing_for", "thaw"]
