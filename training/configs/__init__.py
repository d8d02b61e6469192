"""One small file a recipe, each a table of hyper-parameters: `get_config()`."""
