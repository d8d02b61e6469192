"""Training, its data and its recipes."""
