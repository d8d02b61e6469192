"""Stands in the way of TensorFlow, as where it is not installed; importing that takes longest of all."""

raise ImportError("TensorFlow is not installed here")
