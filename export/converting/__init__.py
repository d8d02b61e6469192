"""What the commands that convert models have in common: their flags and the data that they compare on."""
