"""The X-former families equal their authors' programs: logits, and the values on the way."""

import re

import keras
import numpy as np
import pytest

import hsvit_keras
from tests import reference

SUFFIXES = re.compile(r"_(local|relu)")


def maps(tokens):
    """Tokens of an 8 x 8 map in the authors' layout, (batch, channels, height, width)."""
    return tokens.reshape(len(tokens), 8, 8, -1).transpose(0, 3, 1, 2)


def same(values):
    return values


# a family's fixtures -> the authors' module -> our layer, and how its output gets their layout
INTERMEDIATE = {
    r"(hybrid_)?(vit|vip|vil|vin)(_.*)?": {
        "to_patch_embedding": (("patch_tokens", "map_tokens"), same),
        "transformer.layers.0.0": (("block0_attention_output",), same),
        "transformer": (("block1_mlp_add",), same),
    },
    r"(hybrid_)?fnet": {
        "to_patch_embedding": (("patch_tokens", "map_tokens"), same),
        "transformer.layers.0.0": (("block0_attention_mixing",), same),
        "transformer": (("block1_mlp_add",), same),
    },
    "fnet2d": {
        "conv": (("stem_conv1",), maps),
        "layers.0": (("block0_mlp_dropout",), maps),
        "layers.1": (("block1_mlp_dropout",), maps),
    },
    "mlp_mixer": {
        "2": (("block0_channels_add",), same),
        "3": (("block1_channels_add",), same),
    },
    "hybrid_mlp_mixer": {
        "3": (("map_tokens",), same),
        "4": (("block0_channels_add",), same),
        "5": (("block1_channels_add",), same),
    },
    "levi[tpn]": {
        "conv_embedding": (("map_tokens",), maps),
        "backbone.0.layers.0.0": (("block0_attention_output_norm", "block0_attention_output"), maps),
        "backbone": (("block1_mlp_add",), maps),
    },
    "cc[tpn]": {
        "tokenizer": (("map_tokens",), same),
        "classifier.blocks.0": (("block0_mlp_add",), same),
        "classifier.norm": (("head_norm",), same),
    },
    "pix_pi[tpn]": {
        "to_patch_embedding": (("patch_tokens",), same),
        "layers.0": (("stage0_block0_mlp_add",), same),
        "layers.1": (("stage1_pool_join",), same),
    },
    "cv[tpn]": {f"layers.{i}": ((f"stage{i}_maps",), maps) for i in range(3)},
}
FIXTURES = sorted(
    path.stem
    for path in reference.FOLDER.glob("*.json")
    if any(re.fullmatch(pattern, path.stem) for pattern in INTERMEDIATE)
)


def imported(fixture):
    _, channels, height, width = fixture["input_shape"]
    return hsvit_keras.from_torch(
        SUFFIXES.sub("", fixture["name"]),
        fixture["config"],
        reference.weights(fixture),
        input_shape=(height, width, channels),
    )


def test_all_fixtures_are_found():
    assert len(FIXTURES) == 36


@pytest.mark.parametrize("name", FIXTURES)
def test_answers_and_values_on_the_way(name):
    fixture = reference.load(name)
    model, images = imported(fixture), reference.images(fixture)
    logits = keras.ops.convert_to_numpy(model(images, training=False))
    assert np.abs(logits - fixture["output_float64"]).max() <= fixture["suggested_atol"]

    (modules,) = [table for pattern, table in INTERMEDIATE.items() if re.fullmatch(pattern, name)]
    checkpoints = [checkpoint for checkpoint in fixture["checkpoints"] if checkpoint["module"] in modules]
    assert len(checkpoints) >= 2
    ours = {layer.name for layer in model.layers}
    outputs = []
    for checkpoint in checkpoints:
        candidates, _ = modules[checkpoint["module"]]
        layer = next(candidate for candidate in candidates if candidate in ours)
        outputs.append(model.get_layer(layer).output)
    for checkpoint, values in zip(checkpoints, keras.Model(model.input, outputs)(images), strict=True):
        _, to_authors_layout = modules[checkpoint["module"]]
        values = to_authors_layout(keras.ops.convert_to_numpy(values))
        assert list(values.shape) == checkpoint["shape"]
        scale = max(1, abs(checkpoint["mean"]), checkpoint["std"])
        np.testing.assert_allclose(values.ravel()[:8], checkpoint["first"], rtol=2e-5, atol=1e-5 * scale)
        np.testing.assert_allclose(values.mean(), checkpoint["mean"], rtol=2e-5, atol=1e-5 * scale)
        np.testing.assert_allclose(values.std(), checkpoint["std"], rtol=2e-5, atol=1e-5 * scale)


@pytest.mark.parametrize("name", FIXTURES)
def test_parameter_count(name):
    """Less the positions that two of the classes with rotary positions have and never use."""
    fixture = reference.load(name)
    unused = sum(
        int(np.prod(shape)) for key, shape in fixture["params"] if key in fixture.get("unused_params", ())
    )
    model = imported(fixture)
    assert sum(int(np.prod(w.shape)) for w in model.trainable_weights) == fixture["num_params"] - unused
