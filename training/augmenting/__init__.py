"""Random changes of images that Keras' own layers make otherwise than papers and their programs do."""
