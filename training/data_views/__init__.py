"""Pictures of data sets."""
