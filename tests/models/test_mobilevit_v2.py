"""MobileViTV2: its parameters, odd maps, and every argument that does not fit."""

import keras
import numpy as np
import pytest

from hsvit_keras.models.mobilevit_v2 import VARIANTS, scaled_widths
from tests.models.counting import trainable
from tests.models.running import images, outputs
from tests.models.small import small_model

NAME = "mobilevitv2_050"
WRONG = {
    "filters": ({"filters": (8, 8)}, r"received filters=\(8, 8\), depths=\(1, 1\)"),
    "ratios": ({"expand_ratios": (2,)}, r"2 numbers above 0; received expand_ratios=\(2,\)"),
    "dims": ({"mlp_dims": (8, 8)}, r"hidden_dims=\(16,\), mlp_dims=\(8, 8\)"),
    "epsilon": ({"layer_norm_epsilon": 0}, "layer_norm_epsilon=0"),
    "dropout": ({"dropout_rate": 1}, "dropout_rate=1"),
    "image": ({"input_shape": (4, 12, 3)}, r"too small: stage1_crop gets a map of 1 x 3.*patch of 2 x 2"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    arguments, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        small_model(NAME, **arguments)


# ---- parameters ------------------------------------------------------------------------------------
# In millions, of the paper's models of width 0.5 to 2 for ImageNet.
MILLIONS = {0.5: 1.4, 0.75: 2.9, 1.0: 4.9, 1.5: 10.6, 2.0: 18.4}


def normalized(weights, channels):
    """Parameters of a convolution without bias and its batch normalization."""
    return weights + 2 * channels


def residual(inputs, outputs):
    hidden = 2 * inputs  # a multiple of 8 in each of these
    return (
        normalized(inputs * hidden, hidden)
        + normalized(9 * hidden, hidden)
        + normalized(hidden * outputs, outputs)
    )


def transformer(width, dim, depth):
    mlp = dim * 2 * dim + 2 * dim + 2 * dim * dim + dim
    attention = dim * (1 + 2 * dim) + 1 + 2 * dim + dim * dim + dim
    around = normalized(9 * width, width) + width * dim + normalized(dim * width, width)
    return around + depth * (attention + mlp + 2 * 2 * dim) + 2 * dim


def by_hand(multiplier, classes):
    widths = [min(int(base * multiplier), 64) for base in (32, 64)]
    widths[1:] = [int(base * multiplier) for base in (64, 128, 256, 384, 512)]
    count = normalized(27 * widths[0], widths[0]) + residual(widths[0], widths[1])
    count += residual(widths[1], widths[2]) + residual(widths[2], widths[2])
    for inputs, outputs_, base, depth in zip(
        widths[2:], widths[3:], (128, 192, 256), (2, 4, 3), strict=False
    ):
        count += residual(inputs, outputs_) + transformer(outputs_, int(base * multiplier), depth)
    return count + widths[-1] * classes + classes


@pytest.mark.once
@pytest.mark.parametrize("name", VARIANTS)
def test_parameters_of_the_paper(name):
    found = trainable(name, input_shape=(256, 256, 3), num_classes=1000)
    assert found == by_hand(VARIANTS[name], 1000)
    assert round(found / 1e6, 1) == MILLIONS[VARIANTS[name]]


@pytest.mark.once
def test_narrow_widths_are_rounded():
    """To 16 for the stem and the first stage, 8 for the others, never below 90 % of the width."""
    widths = scaled_widths(0.1, base_dims=(104, 178, 155), mlp_ratio=2.5)
    assert widths["filters"] == (16, 16, 16, 24, 40, 48)
    assert widths["hidden_dims"] == (16, 24, 16)
    assert widths["mlp_dims"] == (32, 48, 32)


# ---- odd maps --------------------------------------------------------------------------------------
@pytest.mark.once
@pytest.mark.parametrize(("shape", "rows", "columns"), [((20, 28, 3), 4, 6), ((16, 28, 1), 4, 6)])
def test_behind_the_transformer_are_zeros_where_patches_end(shape, rows, columns):
    model = small_model(NAME, input_shape=shape)
    maps = keras.Model(model.input, model.get_layer("stage1_pad").output)
    found = outputs(maps, images(model, 2))
    assert (found[:, rows:] == 0).all() and (found[:, :, columns:] == 0).all()
    assert (found[:, :rows, :columns] != 0).all()
    assert found.shape[1:3] == (-(-shape[0] // 4), -(-shape[1] // 4))


@pytest.mark.once
def test_even_maps_are_not_padded():
    names = {layer.name for layer in small_model(NAME, input_shape=(16, 32, 3)).layers}
    assert not names & {"stage1_crop", "stage1_pad"}


@pytest.mark.once
def test_images_count_alone():
    """A normalization is over one image: its positions and channels, not the batch."""
    model = small_model(NAME)
    given = images(model, 2)
    given[1] *= 5
    np.testing.assert_allclose(outputs(model, given)[:1], outputs(model, given[:1]), atol=1e-5)
