"""Numbers of other programs for inputs of our choice, each file with the program beside it that made it."""
