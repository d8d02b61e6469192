"""Reads and rewrites .tflite files: their content, delegation by XNNPACK, runtimes that load them."""
