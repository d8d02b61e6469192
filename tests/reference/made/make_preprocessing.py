"""Writes `preprocessing.json`, what image processors of the library transformers make of a picture.

Made with transformers 5.24.0, Pillow 13.0.0 and PyTorch 2.15.0 by
`python tests/reference/made/make_preprocessing.py`.
Each case is a class, the content of its preprocessor_config.json, and the pixels that it gives, which are
neither rescaled nor normalized, row by row.
"""

import json
import pathlib

import numpy as np
from PIL import Image

PLAIN = {"do_rescale": False, "do_normalize": False}
CROPPED = {"do_center_crop": True, "crop_size": {"height": 9, "width": 7}}
CASES = [
    *(("ViTImageProcessor", {"size": {"height": 8, "width": 10}, "resample": n}) for n in range(6)),
    ("DeiTImageProcessor", {"size": {"height": 12, "width": 14}, "resample": 3, **CROPPED}),
    ("MobileNetV2ImageProcessor", {"size": {"shortest_edge": 11}, "resample": 2, **CROPPED}),
    ("MobileNetV2ImageProcessor", {"size": {"shortest_edge": 6}, "resample": 2, **CROPPED}),
    ("MobileNetV2ImageProcessor", {"do_resize": False, "resample": 2, **CROPPED}),
    ("MobileViTImageProcessor", {"size": {"shortest_edge": 10}, "resample": 3, **CROPPED}),
    ("EfficientNetImageProcessor", {"size": 13, "resample": 0, "include_top": False}),
    ("ConvNextImageProcessor", {"size": {"shortest_edge": 8}, "resample": 3, "crop_pct": 0.7}),
]


def picture(height, width):
    """A picture by formula, uint8 (height, width, 3)."""
    wave = np.sin(0.11 * np.arange(height * width * 3) ** 1.2).reshape(height, width, 3)
    return np.rint(127.5 + 127.5 * wave).astype("uint8")


def pixels(name, settings, image):
    import transformers  # here, so that tests can import this file

    processor = getattr(transformers, f"{name}Pil")(**{**settings, **PLAIN})
    (values,) = processor(Image.fromarray(image))["pixel_values"]
    return np.asarray(values).transpose(1, 2, 0)


def main():
    import transformers

    cases = []
    for name, settings in CASES:
        for sides in ((23, 37), (31, 18)):
            values = pixels(name, settings, picture(*sides))
            assert np.array_equal(values, np.rint(values))
            cases.append(
                {
                    "settings": {**settings, "image_processor_type": name},
                    "picture": sides,
                    "shape": values.shape,
                    "pixels": values.astype(int).ravel().tolist(),
                }
            )
    path = pathlib.Path(__file__).with_name("preprocessing.json")
    versions = {"transformers": transformers.__version__}
    path.write_text(json.dumps({"versions": versions, "cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
