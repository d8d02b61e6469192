"""One small file a table of a paper, with the paper's figures: `get_table()`."""
