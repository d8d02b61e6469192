"""Mobile artifacts of a Keras model: made, proved, inspected, measured and reported."""
