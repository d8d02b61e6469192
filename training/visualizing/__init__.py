"""Pictures of what a model computes."""
