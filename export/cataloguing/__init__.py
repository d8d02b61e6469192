"""The table of all models and their artifacts, docs/models.md."""
