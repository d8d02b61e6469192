"""Two models whose artifacts most tests need: a small HSViT of pixels, and somebody else's classifier."""

import keras
import pytest

import hsvit_keras
from data_sets import load_dataset, sample_images
from tests.artifacts.running import with_random_statistics
from tests.models.small import small_model

MEAN, STD = 0.3, 0.35
DIGITS = tuple(map(str, range(10)))


@pytest.fixture(scope="session")
def classifier():
    """A small HSViT of 16 x 16 pixels of 0 to 255, for the ten digits."""
    keras.utils.set_random_seed(0)
    model = small_model(
        "hsvit_c2a2", input_shape=(16, 16, 1), hidden_dim=32, depth=1, num_classes=10,
        mean=MEAN, std=STD, class_names=DIGITS, data_set="digits",
    )  # fmt: skip
    return with_random_statistics(model)


@pytest.fixture(scope="session")
def digits():
    """`Samples` of the digits' test part, as `classifier` takes them."""
    pixels, labels = sample_images(load_dataset("digits", "test"), 32, image_shape=(16, 16, 1))
    return hsvit_keras.Samples(pixels, labels, "digits")


@pytest.fixture(scope="session")
def calibration():
    """Batches of the digits' training part, as `classifier` takes them."""
    pixels, _ = sample_images(load_dataset("digits", "train"), 64, image_shape=(16, 16, 1))
    return [pixels]


@pytest.fixture(scope="session")
def quantized(classifier, calibration):
    """`classifier` with ranges for integers."""
    return hsvit_keras.calibrate(classifier, calibration)


@pytest.fixture(scope="session")
def stranger():
    """A classifier of stock layers that says nothing of itself."""
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.Input((8, 8, 1), name="image"),
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(10),
        ],
        name="stranger",
    )
