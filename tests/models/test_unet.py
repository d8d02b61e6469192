"""U-Net: its size, its resolutions, and that it learns."""

import re

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.compression.counting import count_multiply_adds
from tests.models.counting import outline, trainable


@pytest.mark.once
def test_table_of_the_docstring():
    (row,) = re.findall(r"\| `unet_tiny` \| (.*) \|", hsvit_keras.UNet.__doc__)
    shape, classes, parameters, macs = (cell.strip() for cell in row.split("|"))
    model = outline("unet_tiny")
    assert shape == " x ".join(map(str, model.input_shape[1:]))
    assert model.output_shape == (None, 32, 32, int(classes))
    assert parameters == f"{trainable('unet_tiny'):,}"
    assert macs == f"{count_multiply_adds(hsvit_keras.create_model('unet_tiny')) / 1e6:.1f} M"


def test_any_image_that_the_stages_halve():
    model = hsvit_keras.UNet((16, 24, 3), 4, filters=(4, 6), mean=0.5, std=0.5, class_names="abcd")
    assert model.output_shape == (None, 16, 24, 4)
    copy = hsvit_keras.UNet.from_config(model.get_config())
    assert copy.get_config() == model.get_config()
    assert [layer.name for layer in copy.layers] == [layer.name for layer in model.layers]


def test_a_pixel_depends_on_its_surroundings_alone():
    """At most 11 pixels to each side: 5 convolutions in full resolution, 2 in half of it, 2 for pooling."""
    model = hsvit_keras.UNet((32, 32, 1), 2, filters=(4, 4))
    image = np.random.default_rng(0).normal(size=(1, 32, 32, 1)).astype("float32")
    changed = image.copy()
    changed[:, :, 24:] += 1
    difference = np.abs(np.asarray(model(changed)) - np.asarray(model(image))).max((0, 1, 3))
    assert difference[24:].min() > 0
    np.testing.assert_array_equal(difference[:12], 0)
    assert difference[20:24].max() > 0


@pytest.mark.slow
def test_it_learns():
    """Squares on a dark ground: brighter pixels are class 1."""
    rng = np.random.default_rng(0)
    masks = rng.integers(0, 2, (16, 4, 4)).repeat(4, 1).repeat(4, 2)
    images = (masks[..., None] + rng.normal(0, 0.3, (16, 16, 16, 1))).astype("float32")
    model = hsvit_keras.UNet((16, 16, 1), 2, filters=(4, 8))
    model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    losses = [model.train_on_batch(images, masks) for _ in range(12)]
    assert losses[-1] < 0.5 * losses[0]


WRONG = {
    "odd side": ({"input_shape": (32, 34, 1)}, r"3 stages .* 4 divides; received input_shape=\(32, 34, 1\)"),
    "one stage": ({"filters": (8,)}, r"at least 2 stages; received filters=\(8,\)"),
    "one number": ({"filters": 8}, "filters has to be a sequence"),
    "no classes": ({"num_classes": 0}, "num_classes=0"),
    "class names": ({"class_names": "ab"}, "each of the 11 classes; received 2 names"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    arguments, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        hsvit_keras.UNet(**arguments)
