"""From a Keras model to TFLite and ONNX files."""
