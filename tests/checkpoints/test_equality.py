"""Every fixture: with the authors' weights our model gives their logits, and their values on the way.

A new family is covered by its fixtures and one entry of `FAMILIES`.
"""

import functools
import re
from typing import NamedTuple

import keras
import numpy as np
import pytest

import hsvit_keras
from tests import reference
from tests.models.running import outputs

# What tells the fixtures of one architecture apart.
SUFFIXES = re.compile(r"_(rect|noattn|noconv|m1|m4|p2|p4|p16|distilled|relu|local)(?=_|$)")


def same(values):
    return values


def channels_first(maps):
    return maps.transpose(0, 3, 1, 2)


def maps(height, width=None, class_tokens=0):
    """A function from tokens, class tokens in front, to the authors' map, which is square by default."""
    sides = height, width or height
    return lambda tokens: channels_first(tokens[:, class_tokens:].reshape(len(tokens), *sides, -1))


def as_tokens(maps):
    return maps.reshape(len(maps), -1, maps.shape[-1])


def of_pixels(tokens):
    """Tokens `(batch, patches, pixels, dim)`; the authors' pixels are beside the batch."""
    batch, patches, pixels, dim = tokens.shape
    return tokens.transpose(0, 2, 1, 3).reshape(batch * pixels, patches, dim)


class Normalized(NamedTuple):
    """Normalizes all tokens in NumPy, where our model normalizes only those that it reads."""

    module: str
    epsilon: float

    def __call__(self, tokens, weights):
        tokens = tokens.astype("float64")
        centred = tokens - tokens.mean(-1, keepdims=True)
        scaled = centred / np.sqrt(tokens.var(-1, keepdims=True) + self.epsilon)
        return scaled * weights[f"{self.module}.weight"] + weights[f"{self.module}.bias"]


# The architectures of a family -> the authors' module -> our layer (the first that there is), and what brings
# its output into their layout.
FAMILIES = {
    "hsvit": {
        "model.conv2d_layers": ("stage1_pool", channels_first),
        "model.embed_projection": ("embedding_relu", same),
        "model.attn_encoders.0": ("block1_add", lambda tokens: tokens[:, :, 0]),
        "model.attn_encoders.3": ("block1_add", lambda tokens: tokens[:, :, 3]),
        "classifier.pool": ("mean_answer", lambda features: features[..., None]),
    },
    "deit|vit_base": {
        "patch_embed": ("patch_tokens", same),
        "blocks.0.attn": ("block0_attention_output", same),
        "blocks.0": ("block0_mlp_add", same),
        "blocks.1": ("block1_mlp_add", same),
        "norm": ("block1_mlp_add", Normalized("norm", 1e-6)),
    },
    "pit": {
        "patch_embed": ("patch_tokens", maps(7)),
        "pools.0": ("stage1_pool_flatten", maps(4)),
        "pools.1": ("stage2_pool_flatten", maps(2)),
        "transformers.0": ("stage0_block0_mlp_add", maps(7, class_tokens=2)),  # of the distilled model
        "transformers.1": ("stage1_block1_mlp_add", maps(4, class_tokens=2)),
    },
    "hvt": {
        "patch_embed": ("patch_tokens", same),
        "blocks.0": ("block0_position_embedding", same),
        "norm": ("head_norm", same),
    },
    "dhvt": {
        "patch_embed": ("patch_tokens", same),
        "blocks.0.attn": ("block0_attention_join", same),
        "blocks.0": ("block0_mlp_add", same),
    },
    "(hybrid_)?(vit|vip|vil|vin)(_rope)?": {
        "to_patch_embedding": ("patch_tokens map_tokens", same),
        "transformer.layers.0.0": ("block0_attention_output", same),
        "transformer": ("block1_mlp_add", same),
    },
    "(hybrid_)?fnet": {
        "to_patch_embedding": ("patch_tokens map_tokens", same),
        "transformer.layers.0.0": ("block0_attention_mixing", same),
        "transformer": ("block1_mlp_add", same),
    },
    "fnet2d": {
        "conv": ("stem_conv1", channels_first),
        "layers.0": ("block0_mlp_dropout", channels_first),
        "layers.1": ("block1_mlp_dropout", channels_first),
    },
    "mlp_mixer": {
        "0": ("image", lambda images: images.reshape(len(images), 64, 3)),
        "2": ("block0_channels_add", same),
        "3": ("block1_channels_add", same),
    },
    "hybrid_mlp_mixer": {
        "3": ("map_tokens", same),
        "4": ("block0_channels_add", same),
        "5": ("block1_channels_add", same),
    },
    "levi[tpn]": {
        "conv_embedding": ("map_tokens", maps(8)),
        "backbone.0.layers.0.0": ("block0_attention_output_norm block0_attention_output", maps(8)),
        "backbone": ("block1_mlp_add", maps(8)),
    },
    "cc[tpn]": {
        "tokenizer": ("map_tokens", same),
        "classifier.blocks.0": ("block0_mlp_add", same),
        "classifier.norm": ("head_norm", same),
    },
    "pix_pi[tpn]": {
        "to_patch_embedding": ("patch_tokens", same),
        "layers.0": ("stage0_block0_mlp_add", same),
        "layers.1": ("stage1_pool_join", same),
    },
    "mobilevit": {
        "conv_1": ("stem_conv_silu", channels_first),
        "layer_1": ("stage0_residual0_project_norm", channels_first),
        "layer_2": ("stage1_residual1_add", channels_first),
        "layer_3.0": ("stage2_residual0_project_norm", channels_first),
        "layer_3.1.local_rep": ("stage2_input_conv", channels_first),
        "layer_3.1.global_rep.0": ("stage2_block0_mlp_add", of_pixels),
        "layer_3": ("stage2_fusion_conv_silu", channels_first),
        "layer_4": ("stage3_fusion_conv_silu", channels_first),
        "layer_5": ("stage4_fusion_conv_silu", channels_first),
        "conv_1x1_exp": ("last_conv_silu", channels_first),
    },
    "swiftformer": {
        "patch_embed": ("stem_conv1_relu", channels_first),
        "network.0.0": ("stage0_block0_add", channels_first),
        "network.0.1.local_representation": ("stage0_block1_local_add", channels_first),
        "network.0.1.attn": ("stage0_block1_attention_output", as_tokens),
        "network.0": ("stage0_block1_mlp_add", channels_first),
        "network.1": ("stage1_conv_norm", channels_first),
        "network.2": ("stage1_block0_mlp_add", channels_first),
        "network.4": ("stage2_block1_mlp_add", channels_first),
        "network.6": ("stage3_block0_mlp_add", channels_first),
        "norm": ("head_norm", channels_first),
    },
    "efficientformer": {
        "patch_embed": ("stem_conv1_relu", channels_first),
        "network.0": ("stage0_block0_mlp_add", channels_first),
        "network.1": ("stage1_conv_norm", channels_first),
        "network.4": ("stage2_block1_mlp_add", channels_first),
        "network.6.0": ("stage3_block0_mlp_add", channels_first),
        "network.6.2.token_mixer": ("stage3_block1_attention_output", same),
        "network.6.2": ("stage3_block1_mlp_add", same),
        "norm": ("head_norm", same),
    },
    "cvt_microsoft": {
        "stage0.patch_embed": ("stage0_norm", maps(11, 17)),
        "stage0.blocks.0.attn": ("stage0_block0_attention_output", same),
        "stage0.blocks.0": ("stage0_block0_mlp_add", same),
        "stage0": ("stage0_block0_mlp_add", maps(11, 17)),
        "stage1": ("stage1_block0_mlp_add", maps(6, 9)),
        "stage2.blocks.0": ("stage2_block0_mlp_add", same),
        "stage2.blocks.1": ("stage2_block1_mlp_add", same),
        "norm": ("head_norm", lambda token: token[:, None]),
    },
    "cv[tpn]": {f"layers.{i}": (f"stage{i}_maps", channels_first) for i in range(3)},
    "resnet(18|50)": {
        "conv1": ("stem_conv", channels_first),
        "bn1": ("stem_conv_norm", channels_first),
        "maxpool": ("stem_pool", channels_first),
        "layer1": ("stage0_block0_relu", channels_first),
        "layer2.0": ("stage1_block0_relu", channels_first),
        "layer2": ("stage1_block1_relu", channels_first),
        "layer3": ("stage2_block0_relu", channels_first),
        "layer4": ("stage3_block0_relu", channels_first),
        "avgpool": ("mean_map", lambda features: features[..., None, None]),
    },
    "mobilenet_v2": {
        "features.0": ("stem_conv_relu6", channels_first),
        "features.1": ("stage0_block0_add", channels_first),
        "features.2": ("stage1_block0_project_norm", channels_first),
        "features.3": ("stage1_block1_add", channels_first),
        "features.4": ("stage2_block0_add", channels_first),
        "features.6": ("stage3_block1_add", channels_first),
        "features.7": ("head_conv_relu6", channels_first),
    },
    "efficientnet": {
        "features.0": ("stem_conv_silu", channels_first),
        "features.1": ("stage0_block0_add", channels_first),
        "features.2.0": ("stage1_block0_project_norm", channels_first),
        "features.2": ("stage1_block1_add", channels_first),
        "features.3": ("stage2_block0_project_norm", channels_first),
        "features.4": ("stage3_block0_project_norm", channels_first),
        "features.5": ("head_conv_silu", channels_first),
    },
}
# Those of whole checkpoint folders are in test_transformers.py, those with several inputs in
# test_deformable_detr.py.
ELSEWHERE = ("deformable_detr", "hf_", "ms_deform_attn", "param_counts")
FIXTURES = sorted(
    path.stem for path in reference.FOLDER.glob("*.json") if not path.stem.startswith(ELSEWHERE)
)


def architecture(name):
    return SUFFIXES.sub("", name)


@functools.cache
def imported(name):
    """The fixture of this name, the authors' weights, and our model."""
    fixture = reference.load(name)
    weights = reference.weights(fixture)
    _, channels, height, width = fixture["input_shape"]
    model = hsvit_keras.from_torch(
        architecture(name), fixture["config"], weights, input_shape=(height, width, channels)
    )
    return fixture, weights, model


@pytest.mark.once
def test_all_fixtures_are_found():
    assert len(FIXTURES) == 58


SLOW = [pytest.mark.slow, pytest.mark.slow_on_jax]  # run by test-slow on both backends


MANY_SIZES = ("cvt_microsoft", "efficientformer", "efficientnet", "mobilevit", "swiftformer")


def fixtures_of_families():
    """All fixtures; slow are all but the first of each family."""
    covered = set()
    for name in FIXTURES:
        family = next(family for family in FAMILIES if re.fullmatch(family, architecture(name)))
        marks = pytest.mark.slow_on_jax if family in MANY_SIZES else ()
        yield pytest.param(name, marks=SLOW if family in covered else marks)
        covered.add(family)


@pytest.mark.parametrize("name", list(fixtures_of_families()))
def test_answers_and_values_on_the_way(name):
    fixture, weights, model = imported(name)
    (modules,) = [table for family, table in FAMILIES.items() if re.fullmatch(family, architecture(name))]
    check(model, fixture, weights, modules)


def check(model, fixture, weights, modules, atol=3e-6):
    """The logits of a model and its values on the way are those of a fixture."""
    ours = {layer.name: layer.output for layer in model.layers}
    layers, layouts = zip(
        *[modules[checkpoint["module"]] for checkpoint in fixture["checkpoints"]], strict=True
    )
    probes = [next(ours[layer] for layer in names.split() if layer in ours) for names in layers]
    assert len(probes) >= 3
    logits, *values = outputs(keras.Model(model.input, [model.output, *probes]), reference.images(fixture))
    assert np.abs(logits - fixture["output_float64"]).max() <= fixture["suggested_atol"]
    for checkpoint, layout, value in zip(fixture["checkpoints"], layouts, values, strict=True):
        value = layout(value, weights) if isinstance(layout, Normalized) else layout(value)
        assert list(value.shape) == checkpoint["shape"]
        are_sums = fixture["name"].endswith(("fnet", "swiftformer"))  # over an image
        atol = 1e-5 * checkpoint["std"] if are_sums else atol
        np.testing.assert_allclose(value.ravel()[:8], checkpoint["first"], rtol=1e-5, atol=atol)
        np.testing.assert_allclose(value.mean(), checkpoint["mean"], rtol=1e-5, atol=atol / 3)
        np.testing.assert_allclose(value.std(), checkpoint["std"], rtol=1e-5)


@pytest.mark.once
@pytest.mark.parametrize("name", FIXTURES)
def test_parameter_count(name):
    """Less the positions that two of the classes with rotary positions have and never use."""
    fixture, _, model = imported(name)
    positions = {"pos_embedding"} & set(fixture.get("unused_params", ()))
    unused = sum(int(np.prod(s)) for key, s in fixture["params"] if key in positions)
    ours = sum(int(np.prod(weight.shape)) for weight in model.trainable_weights)
    assert ours == fixture["num_params"] - unused
