"""ResNet, MobileNetV2 and EfficientNet: sizes of HSViT's Table 3, padding, and arguments that do not fit."""

import keras
import numpy as np
import pytest

import hsvit_keras
from tests import reference
from tests.models.counting import outline, trainable
from tests.models.running import outputs
from tests.models.small import small_model

ROWS = {row["model"]: row for row in reference.load("param_counts_hf")["rows"]}
NAMES = {
    "resnet18": "ResNet-18",
    "resnet50": "ResNet-50",
    "mobilenet_v2_100": "MobileNetV2-1.0",
    "mobilenet_v2_140": "MobileNetV2-1.4",
    "efficientnet_b0": "EfficientNet-B0",
    "efficientnet_b3": "EfficientNet-B3",
}


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_parameters_of_the_paper(name):
    row = ROWS[NAMES[name]]
    assert trainable(name) == row["tiny_imagenet"]["trainable"]
    assert round(trainable(name) / 1e6, 1) == row["printed_millions"]
    assert trainable(name, num_classes=10) == row["cifar10"]["trainable"]


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_settings_of_the_paper(name):
    model, facts = outline(name), ROWS[NAMES[name]]["facts"]
    assert model.input_shape == (None, 64, 64, 3)
    assert model.stem_filters == facts["stem_width"]
    norms = [layer for layer in model.layers if isinstance(layer, keras.layers.BatchNormalization)]
    assert {norm.epsilon for norm in norms} == {facts["bn_eps"]}
    moving = sum(int(np.prod(w.shape)) for norm in norms for w in norm.non_trainable_weights)
    assert moving == ROWS[NAMES[name]]["tiny_imagenet"]["batchnorm_moving_statistics"]
    if "blocks" in facts:
        assert (list(model.filters), list(model.depths)) == (facts["widths"], facts["blocks"])
        assert list(model.strides) == facts["strides"]
    else:
        assert list(np.repeat(model.filters, model.depths)) == facts["widths"]
        assert model.head_filters == facts["last_width"]
    if "kernels" in facts:
        assert list(model.kernel_sizes) == facts["kernels"]
        assert list(model.expansions) == facts["expansion"]
        assert list(model.symmetric_blocks) == facts["symmetric_padding_block_numbers"]
        assert model.head_filters == facts["top_width"]
    assert getattr(model, "dropout_rate", 0) == facts.get("head_dropout", 0)


@pytest.mark.once
def test_drop_connect_grows_linearly():
    rates = {
        layer.name: layer.rate
        for layer in outline("efficientnet_b0").layers
        if isinstance(layer, keras.layers.Dropout) and layer.name != "head_dropout"
    }
    assert rates["stage1_block1_dropout"] == pytest.approx(0.2 * 2 / 16)
    assert rates["stage5_block3_dropout"] == pytest.approx(0.2 * 14 / 16)
    assert len(rates) == 9  # 16 blocks less the first of each of 7 stages


# ---- padding ---------------------------------------------------------------------------------------
def ramps(height, width):
    """An image whose pixels all differ, `(1, height, width, 3)`."""
    return np.linspace(-1, 1, height * width * 3, dtype="float32").reshape(1, height, width, 3)


def stem_of(name, padding, side):
    """What the first convolution of a model gives, and the same with padding in NumPy."""
    model = small_model(name, input_shape=(side, side, 3), padding=padding)
    stem = model.get_layer("stem_conv")
    found = outputs(keras.Model(model.input, stem.output), ramps(side, side))
    even = side % 2 == 0
    before = {"symmetric": 1, "same": 0 if even else 1, "end": 0}[padding]
    padded = np.pad(ramps(side, side), ((0, 0), (before, 1), (before, 1), (0, 0)))
    kernel = stem.get_weights()[0]
    count = (padded.shape[1] - 3) // 2 + 1
    windows = [
        [np.tensordot(padded[0, 2 * y : 2 * y + 3, 2 * x : 2 * x + 3], kernel, 3) for x in range(count)]
        for y in range(count)
    ]
    return found[0], np.array(windows)


@pytest.mark.once
@pytest.mark.parametrize("side", [16, 17])
@pytest.mark.parametrize(
    ("name", "padding"),
    [
        ("mobilenet_v2_100", "same"),
        ("mobilenet_v2_100", "symmetric"),
        ("efficientnet_b0", "end"),
        ("efficientnet_b0", "same"),
        ("efficientnet_b0", "symmetric"),
    ],
)
def test_padding(name, padding, side):
    found, expected = stem_of(name, padding, side)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.once
def test_output_stride_dilates():
    """Blocks behind the one that would have halved the map see as far as in the halved one."""
    sizes = {"depths": (1, 2, 2), "strides": (1, 2, 2), "filters": (8, 8, 16), "expansions": (1, 4, 4)}
    model = small_model("mobilenet_v2_100", **sizes, output_stride=4, input_shape=(32, 64, 3))
    assert model.get_layer("head_conv").output.shape[1:3] == (8, 16)
    dilations = [model.get_layer(f"stage2_block{i}_depthwise").dilation_rate for i in range(2)]
    assert dilations == [(1, 1), (2, 2)]


# ---- arguments -------------------------------------------------------------------------------------
WRONG = {
    "resnet50": [
        ({"filters": (3, 8, 16)}, "each number of filters .* at least 4; received .*3"),
        ({"depths": (1, 2)}, "need one number for each stage"),
        ({"stem_filters": 0}, "stem_filters=0"),
    ],
    "mobilenet_v2_100": [
        ({"padding": "end"}, "padding has to be one of 'same', 'symmetric'; received padding='end'"),
        ({"output_stride": 1}, "output_stride .* at least 2"),
        ({"expansions": (1, 1.5)}, "each number of expansions"),
        ({"batch_norm_epsilon": 0}, "batch_norm_epsilon has to be a positive number; received .*=0"),
        ({"dropout_rate": 1}, r"dropout_rate has to be a number in \[0, 1\)"),
    ],
    "efficientnet_b0": [
        ({"kernel_sizes": (3, 4)}, "each number of kernel_sizes has to be odd"),
        ({"strides": (1, 3)}, "each number of strides has to be one of 1, 2"),
        ({"symmetric_blocks": (3,)}, "each of symmetric_blocks has to be one of 0, 1, 2"),
        ({"squeeze_ratio": -1}, "squeeze_ratio has to be a positive number"),
        ({"drop_connect_rate": 1.0}, "drop_connect_rate has to be a number in"),
        ({"input_shape": (16, 2, 3), "symmetric_blocks": ()}, "image is too small: stage1_block0_.* 8 x 1"),
    ],
}


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "arguments", "message"), [(name, *case) for name, cases in WRONG.items() for case in cases]
)
def test_arguments_that_do_not_fit(name, arguments, message):
    with pytest.raises(ValueError, match=message):
        small_model(name, **arguments)


@pytest.mark.once
@pytest.mark.parametrize("name", ["resnet18", "resnet50", "mobilenet_v2_100", "efficientnet_b0"])
def test_slimming(name):
    """Half of the kernels inside of blocks, those of gates included, and of the last convolution."""
    model = small_model(name)
    kernels = hsvit_keras.slimmable_parts(model)["kernels"]
    inside = {"resnet": "conv0", "mobile": "expand", "effici": "gate_squeeze"}[name[:6]]
    assert f"stage1_block1_{inside}" in kernels
    slimmed = hsvit_keras.slim(model, kernels=0.5)
    halves = {layer: -(-count // 2) for layer, count in kernels.items()}
    assert {layer: slimmed.get_layer(layer).filters for layer in kernels} == halves
    assert slimmed.output_shape == model.output_shape
