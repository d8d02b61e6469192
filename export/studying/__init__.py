"""The artifacts of a study of compression."""
