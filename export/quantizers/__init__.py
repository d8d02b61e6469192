"""Our quantization after training beside that of other tools, on the same models and calibration images."""
