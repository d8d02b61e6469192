"""Checkpoints of the `transformers` library become our models; one file a family."""
