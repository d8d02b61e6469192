"""Depths are those of BEiT's program where blocks have names, and of timm's where they have none."""

import keras
import pytest
from keras import layers

from hsvit_keras.fine_tuning import depths
from tests.models.small import small_model


def test_depths_of_a_vision_transformer_are_those_of_beit():
    """get_num_layer_for_vit: tokens, positions and patches 0, blocks.i i + 1, everything else one more."""
    found = depths(small_model("deit_tiny_distilled"))  # of two blocks
    assert len(found) == 22
    for name, depth in found.items():
        if name.startswith("block"):
            assert depth == int(name[5]) + 1
        elif name.startswith("head"):
            assert depth == 3
        else:
            assert name in ("patch_embedding", "class_token", "position_embedding") and depth == 0


@pytest.mark.parametrize(
    "name, expected",
    [
        ("hsvit_tiny", {"stage0_conv0": 0, "stage1_conv0": 1, "embedding": 1, "block0_norm": 2, "head": 4}),
        ("pit_ti", {"patch_embedding": 0, "stage0_block0_norm": 1, "stage1_pool_conv": 2, "head": 6}),
        ("resnet18", {"stem_conv": 0, "stage0_block0_conv0": 1, "stage1_block1_conv0": 3, "head": 5}),
    ],
)
def test_stages_are_blocks_and_so_is_what_is_between_them(name, expected):
    found = depths(small_model(name))
    assert {layer: found[layer] for layer in expected} == expected
    assert sorted(set(found.values())) == list(range(max(found.values()) + 1))


def test_twelve_weights_of_another_model_are_a_depth():
    inputs = keras.Input((4, 4, 3))
    maps = inputs
    for i in range(7):  # a kernel, a bias, a scale and an offset: four a pair
        maps = layers.Conv2D(3, 1, name=f"conv{i}")(maps)
        maps = layers.BatchNormalization(name=f"norm{i}", trainable=i > 2)(maps)
    logits = layers.Dense(2, name="answer")(layers.GlobalAveragePooling2D()(maps))
    found = depths(keras.Model(inputs, logits))
    assert [found[f"conv{i}"] for i in range(7)] == [0, 0, 0, 1, 1, 1, 2]
    assert [found[f"norm{i}"] for i in range(7)] == [0, 0, 0, 1, 1, 1, 2]
    assert found["answer"] == 3
