"""Training configs, checked."""
