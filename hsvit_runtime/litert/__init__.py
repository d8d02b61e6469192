"""What LiteRT makes of a .tflite file: its content, its delegation, the runtimes that load it."""
