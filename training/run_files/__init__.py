"""The folder of a training run."""
