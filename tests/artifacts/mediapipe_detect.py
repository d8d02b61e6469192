"""Detects objects by MediaPipe; run in the environment of MediaPipe.

    python mediapipe_detect.py images.npy model.tflite

Prints a JSON list of `{name, score, left, top}`, pixels, for the first image.
"""

import json
import sys

import mediapipe
import numpy as np
from mediapipe.tasks.python import BaseOptions, vision

options = vision.ObjectDetectorOptions(base_options=BaseOptions(model_asset_path=sys.argv[2]))
with vision.ObjectDetector.create_from_options(options) as detector:
    image = mediapipe.Image(image_format=mediapipe.ImageFormat.SRGB, data=np.load(sys.argv[1])[0])
    found = detector.detect(image).detections
print(
    json.dumps(
        [
            {
                "name": detection.categories[0].category_name,
                "score": detection.categories[0].score,
                "left": detection.bounding_box.origin_x,
                "top": detection.bounding_box.origin_y,
            }
            for detection in found
        ]
    )
)
