"""What preprocessor_config.json says, and pictures prepared as it says against those of the library."""

import numpy as np
import pytest
from PIL import Image

from data_sets.crops import crop_of
from data_sets.images import ImageFiles, resized
from hsvit_keras.checkpoints.transformers.preprocessing import preprocessing_of
from hsvit_runtime.errors import InputError
from hsvit_runtime.resizing import Resizing
from tests import reference
from tests.reference.made import make_preprocessing

pytestmark = pytest.mark.once
PIXELS = np.array([0.0, 51.0, 255.0])
RULES = {  # settings -> what the library makes of `PIXELS`, by hand
    "none": ({}, PIXELS / 255),
    "mean": ({"image_mean": 0.25, "image_std": 0.5}, [-0.5, -0.1, 1.5]),
    "off": ({"image_mean": 0.25, "image_std": 0.5, "do_normalize": False}, PIXELS / 255),
    "pixels": ({"do_rescale": False, "image_mean": 51, "image_std": 2}, [-25.5, 0, 102]),
    "factor": ({"rescale_factor": 1 / 51, "image_mean": 1, "image_std": 2}, [-0.5, 0, 2]),
    "offset": ({"rescale_factor": 1 / 127.5, "rescale_offset": True}, [-1, -0.6, 1]),
    "offset of pixels to 1": ({"rescale_offset": True}, PIXELS / 255 - 1),
    "offset without rescaling": ({"rescale_offset": True, "do_rescale": False}, PIXELS),
    "offset and mean": ({"rescale_offset": True, "image_mean": 0.5, "image_std": 0.5}, [-3, -2.6, -1]),
    "top": ({"include_top": True, "image_mean": 0.25, "image_std": 0.5}, [-1, -0.2, 3]),
    "top alone": ({"include_top": True, "do_normalize": False, "image_std": 0.5}, [0, 0.4, 2]),
}


@pytest.mark.parametrize("rule", RULES)
def test_what_pixels_become(rule):
    settings, expected = RULES[rule]
    found = preprocessing_of(settings)
    np.testing.assert_allclose((PIXELS / 255 - found.mean) / found.std, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"size": 8}, (8, 8)),
        ({"size": {"shortest_edge": 8}}, (8, 8)),
        ({"size": {"height": 6, "width": 8}}, (6, 8)),
        ({"size": 9, "crop_size": 8}, (8, 8)),
        ({"size": 9, "crop_size": 8, "do_center_crop": False}, (9, 9)),
        ({"size": 9, "crop_size": None, "do_center_crop": None}, (9, 9)),
        ({"size": [6, 8]}, (6, 8)),
        ({"size": 9, "do_resize": False}, None),
        ({}, None),
    ],
)
def test_size_of_images(settings, expected):
    assert preprocessing_of(settings).sides == expected


CLASSES = {  # a class and what a file says -> what happens
    "ViT": ({"size": 8}, (8, 8), "bilinear", (8, 8)),
    "DeiT": ({"size": 8, "crop_size": 6}, (6, 6), "bicubic", (8, 8)),
    "ConvNext": ({"size": 224}, (224, 224), "bicubic", 256),
    "ConvNext of 384": ({}, (384, 384), "bicubic", (384, 384)),
    "Bit": ({}, (224, 224), "bicubic", 224),
    "MobileNetV2": ({}, (224, 224), "bilinear", 256),
    "MobileViT": ({"size": 288, "resample": 2}, (256, 256), "bilinear", 288),
    "EfficientNet": ({}, (346, 346), "bicubic", (346, 346)),
    "EfficientFormer": ({}, (224, 224), "bicubic", (224, 224)),
}


@pytest.mark.parametrize("suffix", ["ImageProcessor", "ImageProcessorFast", "FeatureExtractor"])
@pytest.mark.parametrize("name", CLASSES)
def test_what_a_class_does_where_a_file_does_not_say_it(name, suffix):
    settings, sides, resampling, size = CLASSES[name]
    found = preprocessing_of({**settings, "image_processor_type": name.split()[0] + suffix})
    assert (found.sides, found.resizing) == (sides, Resizing(resampling, size))
    assert found.flips_channels == (name == "MobileViT")


def test_the_class_of_the_model_where_a_file_names_none():
    found = preprocessing_of({"size": 224, "image_mean": [0.5] * 3}, "ConvNextImageProcessor")
    assert found.resizing == Resizing("bicubic", 256)
    np.testing.assert_allclose((found.mean, found.std), 0.5)


def test_channels_of_a_class_that_flips_them_unless_told_otherwise():
    settings = {"image_processor_type": "MobileViTImageProcessor", "do_flip_channel_order": False}
    assert not preprocessing_of(settings).flips_channels


CASES = reference.load("made/preprocessing")["cases"]


def name_of(case):
    return f"{case['settings']['image_processor_type']} {case['settings']['resample']} {case['shape']}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_pictures_as_the_library_prepares_them(case, tmp_path):
    preparation = preprocessing_of(case["settings"])
    picture = make_preprocessing.picture(*case["picture"])
    Image.fromarray(picture).save(tmp_path / "picture.png")
    assert preparation.sides == tuple(case["shape"][:2])
    expected = np.reshape(case["pixels"], case["shape"])
    expected = expected[..., ::-1] if preparation.flips_channels else expected  # which the model does
    for images in (picture[np.newaxis], ImageFiles([tmp_path / "picture.png"])):
        found = resized(images, 0, case["shape"], crop_of(preparation.resizing))
        np.testing.assert_array_equal(found, expected)


REFUSED = {
    "longest edge": ({"size": {"longest_edge": 8}}, "size has to be .*; received size={'longest_edge': 8}"),
    "both edges": ({"size": {"shortest_edge": 8, "longest_edge": 9}}, "size has to be "),
    "nothing": ({"size": 0, "do_center_crop": False}, "size has to be .* size=0"),
    "crop": ({"do_center_crop": True, "crop_size": {"height": 8}}, "crop_size has to be .*{'height': 8}"),
    "no crop": ({"do_center_crop": True}, "do_center_crop needs crop_size"),
    "filter": ({"size": 8, "resample": 6}, "resample has to be one of 0 to 5, .*; received resample=6"),
    "named filter": ({"size": 8, "resample": "bicubic"}, "resample='bicubic'"),
    "padding": ({"do_pad": True}, "do_pad is a step that our models have not"),
    "class": ({"image_processor_type": "CLIPImageProcessor"}, "one of ViT.*; received 'CLIPImageProcessor'"),
    "part": (
        {"image_processor_type": "ViTImageProcessor", "crop_pct": 0.9},
        "ViTImageProcessor has no crop_pct",
    ),
    "mean": ({"do_normalize": True, "image_std": 0.5}, "do_normalize needs image_mean$"),
    "std": ({"do_normalize": False, "include_top": True}, "include_top needs image_std$"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    settings, message = REFUSED[name]
    with pytest.raises(InputError, match=f"^preprocessor_config.json: .*{message}") as error:
        preprocessing_of(settings)
    assert "\n" not in str(error.value)
