"""Random changes of images: Keras' layers, and what papers and their programs do otherwise than these."""
