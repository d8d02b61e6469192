"""Transformers and hybrids of the `transformers` library: its logits, and its values on the way."""

import functools

import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.checkpoints.tensors import Tensors
from hsvit_keras.checkpoints.transformers import (
    cvt,
    efficientformer,
    mobilevit,
    mobilevit_v2,
    swiftformer,
    vit,
)
from tests import reference
from tests.checkpoints.test_equality import (
    Normalized,
    as_tokens,
    channels_first,
    check,
    maps,
    of_pixels,
    same,
)
from tests.models.counting import outline, trainable, without_values
from tests.models.running import outputs
from tests.parameters import slow_but


# Of a fixture: the module that imports it; their module -> our layer, and what brings its output into their
# layout.
def of_vit(family):
    layer = f"{family}.encoder.layer.0"
    return {
        f"{family}.embeddings": ("position_embedding", same),
        f"{layer}.layernorm_before": ("block0_norm", same),
        f"{layer}.attention": ("block0_attention_output", same),
        f"{layer}.intermediate.dense": ("block0_mlp_hidden", same),
        layer: ("block0_mlp_add", same),
        f"{family}.encoder.layer.1": ("block1_mlp_add", same),
        f"{family}.layernorm": ("block1_mlp_add", Normalized(f"{family}.layernorm", 1e-12)),
    }


def channels_first_of_pixels(tokens):
    """Tokens `(batch, patches, pixels, dim)` to `(batch, dim, pixels, patches)`."""
    return tokens.transpose(0, 3, 2, 1)


MOBILEVIT = {
    "conv_stem": ("stem_conv_silu", channels_first),
    "encoder.layer.0": ("stage0_residual0_project_norm", channels_first),
    "encoder.layer.1": ("stage1_residual2_add", channels_first),
    "encoder.layer.2.downsampling_layer": ("stage2_residual0_project_norm", channels_first),
    "encoder.layer.2.conv_1x1": ("stage2_input_conv", channels_first),
    "encoder.layer.2.transformer": ("stage2_block1_mlp_add", of_pixels),
    "encoder.layer.2.layernorm": ("stage2_norm", of_pixels),
    "encoder.layer.2.conv_projection": ("stage2_output_conv_silu", channels_first),
    "encoder.layer.2": ("stage2_fusion_conv_silu", channels_first),
    "encoder.layer.3": ("stage3_fusion_conv_silu", channels_first),
    "encoder.layer.4": ("stage4_fusion_conv_silu", channels_first),
    "conv_1x1_exp": ("last_conv_silu", channels_first),
}
MOBILEVIT_V2 = {
    "conv_stem": ("stem_conv_silu", channels_first),
    "encoder.layer.0": ("stage0_residual0_add", channels_first),
    "encoder.layer.1": ("stage1_residual1_add", channels_first),
    "encoder.layer.2.conv_1x1": ("stage2_input_conv", channels_first),
    "encoder.layer.2.transformer": ("stage2_block0_mlp_add", channels_first_of_pixels),
    "encoder.layer.2": ("stage2_output_conv_norm", channels_first),
    "encoder.layer.3": ("stage3_output_conv_norm", channels_first),
    "encoder.layer.4": ("stage4_output_conv_norm", channels_first),
}
SWIFTFORMER = {
    "patch_embed": ("stem_conv1_relu", channels_first),
    "encoder.network.0.blocks.0": ("stage0_block0_add", channels_first),
    "encoder.network.0.blocks.1.local_representation": ("stage0_block1_local_add", channels_first),
    "encoder.network.0.blocks.1.attn": ("stage0_block1_attention_output", as_tokens),
    "encoder.network.0": ("stage0_block1_mlp_add", channels_first),
    "encoder.network.1": ("stage1_conv_norm", channels_first),
    "encoder.network.2": ("stage1_block0_mlp_add", channels_first),
    "encoder.network.3": ("stage2_conv_norm", channels_first),
    "encoder.network.4": ("stage2_block1_mlp_add", channels_first),
    "encoder.network.5": ("stage3_conv_norm", channels_first),
    "encoder.network.6": ("stage3_block0_mlp_add", channels_first),
}
EFFICIENTFORMER = {
    "patch_embed": ("stem_conv1_relu", channels_first),
    "encoder.intermediate_stages.0": ("stage0_block0_mlp_add", channels_first),
    "encoder.intermediate_stages.1": ("stage1_conv_norm", channels_first),
    "encoder.intermediate_stages.2": ("stage1_block1_mlp_add", channels_first),
    "encoder.intermediate_stages.3": ("stage2_conv_norm", channels_first),
    "encoder.intermediate_stages.4": ("stage2_block0_mlp_add", channels_first),
    "encoder.intermediate_stages.5": ("stage3_conv_norm", channels_first),
    "encoder.last_stage.meta4D_layers": ("stage3_block0_mlp_add", channels_first),
    "encoder.last_stage.meta3D_layers.blocks.0.token_mixer": ("stage3_block1_attention_output", same),
    "encoder.last_stage.meta3D_layers.blocks.0": ("stage3_block1_mlp_add", same),
    "layernorm": ("head_norm", same),
}


STAGE, ATTENTION = "encoder.stages", "layers.0.attention"
PROJECTION = f"{STAGE}.0.{ATTENTION}.attention.convolution_projection"
CVT = {
    f"{STAGE}.0.embedding": ("stage0_norm", maps(12, 16)),
    f"{PROJECTION}_query": ("stage0_block0_attention_query_tokens", same),
    f"{PROJECTION}_key": ("stage0_block0_attention_key_tokens", same),
    f"{STAGE}.0.{ATTENTION}": ("stage0_block0_attention_output", same),
    f"{STAGE}.0.layers.0": ("stage0_block0_mlp_add", same),
    f"{STAGE}.0": ("stage0_block0_mlp_add", maps(12, 16)),
    f"{STAGE}.1": ("stage1_block1_mlp_add", maps(6, 8)),
    f"{STAGE}.2.embedding": ("stage2_norm", maps(3, 4)),
    f"{STAGE}.2.layers.0": ("stage2_block0_mlp_add", same),
    f"{STAGE}.2": ("stage2_block2_mlp_add", maps(3, 4, class_tokens=1)),
}


def inside(name, modules):
    """The modules of the class's inner model, whose names start with that of its family."""
    return {f"{name}.{module}": layer for module, layer in modules.items()}


FAMILIES = {
    "hf_vit": (vit, of_vit("vit")),
    "hf_deit": (vit, of_vit("deit")),
    "hf_deit_teacher": (vit, of_vit("deit")),
    "hf_mobilevit": (mobilevit, inside("mobilevit", MOBILEVIT)),
    "hf_mobilevitv2": (mobilevit_v2, inside("mobilevitv2", MOBILEVIT_V2)),
    "hf_swiftformer": (
        swiftformer,
        {**inside("swiftformer", SWIFTFORMER), "norm": ("head_norm", channels_first)},
    ),
    "hf_cvt": (cvt, {**inside("cvt", CVT), "layernorm": ("head_norm", lambda token: token[:, None])}),
    "hf_efficientformer": (efficientformer, inside("efficientformer", EFFICIENTFORMER)),
}
# Tokens of little variance are normalized in hf_cvt: both sides differ from float64 by 1.5e-5.
ATOL = {"hf_cvt": 3e-5}
QUICK = ["hf_deit_teacher"]


@functools.cache
def imported(name):
    """The fixture of this name, the published weights, and our model."""
    family, _ = FAMILIES[name]
    fixture = reference.load(name)
    weights = reference.weights(fixture)
    _, channels, height, width = fixture["input_shape"]
    config = {**family.DEFAULTS, **fixture["config"]}
    assert set(config["architectures"]) <= set(family.CLASSES)
    model = family.build(config, (height, width, channels), num_classes=len(config["id2label"]))
    load(family, model, weights)
    return fixture, weights, model


def load(family, model, weights):
    tensors = Tensors(weights)
    family.load(model, tensors)
    tensors.finish()


@pytest.mark.parametrize("name", slow_but(QUICK, FAMILIES))
def test_answers_and_values_on_the_way(name):
    fixture, weights, model = imported(name)
    check(model, fixture, weights, FAMILIES[name][1], ATOL.get(name, 3e-6))


@pytest.mark.once
@pytest.mark.parametrize("name", FAMILIES)
def test_parameter_count(name):
    fixture, _, model = imported(name)
    assert sum(int(np.prod(weight.shape)) for weight in model.trainable_weights) == fixture["num_params"]


# ---- the sizes that HSViT compares with ----------------------------------------------------------
OTHER_FORM = {"swiftformer": {"weighted_queries": False}, "cvt_microsoft": {"activation": "gelu"}}


def from_torch_in_form(fixture, **changes):
    """The model of a fixture of authors with other arguments and their weights."""
    _, channels, height, width = fixture["input_shape"]
    weights, shape = reference.weights(fixture), (height, width, channels)
    model = hsvit_keras.from_torch(fixture["name"], fixture["config"], weights, input_shape=shape)
    other = type(model).from_config({**model.get_config(), **changes})
    other.set_weights(model.get_weights())
    return other


ROWS = {row["model"]: row for row in reference.load("param_counts_hf")["rows"]}
MODELS = {
    "cvt_13": "CvT-13",
    "cvt_21": "CvT-21",
    "vit_base": "ViT-B",
    "mobilevit_xs": "MobileViT-XS",
    "mobilevit_s": "MobileViT-S",
    "swiftformer_xs": "SwiftFormer-XS",
    "swiftformer_s": "SwiftFormer-S",
    "efficientformer_l1": "EfficientFormer-L1",
    "efficientformer_l3": "EfficientFormer-L3",
}


@pytest.mark.once
@pytest.mark.parametrize("name", slow_but(["swiftformer_xs"], MODELS))
def test_parameters_of_table_3(name):
    row = ROWS[MODELS[name]]
    parameters = trainable(name, input_shape=(64, 64, 3), num_classes=200)
    assert parameters == trainable(name) == row["tiny_imagenet"]["trainable"]
    assert round(parameters / 1e6, 1) == row["printed_millions"]


@pytest.mark.parametrize("name", OTHER_FORM)
def test_authors_weights_in_the_librarys_form(name):
    """Other numbers with the same weights, as the fixture has them too."""
    fixture = reference.load(name)
    model = from_torch_in_form(fixture, **OTHER_FORM[name])
    expected = fixture["output_variants"]["huggingface_transformers"]
    found = outputs(model, reference.images(fixture))
    assert np.abs(found - expected).max() <= fixture["suggested_atol"]


# ---- configs --------------------------------------------------------------------------------------
@pytest.mark.once
def test_a_config_that_omits_all_is_the_librarys_default():
    model = vit.build({**vit.DEFAULTS, "architectures": ["ViTForImageClassification"]}, None, num_classes=3)
    assert model.input_shape == (None, 224, 224, 3)
    assert (model.hidden_dim, model.depth, model.layer_norm_epsilon) == (768, 12, 1e-12)


@pytest.mark.once
def test_settings_of_mobilevitv2():
    default = without_values(lambda: mobilevit_v2.build(mobilevit_v2.DEFAULTS, None, num_classes=3))
    registered = outline("mobilevitv2_100", input_shape=(256, 256, 3), num_classes=3)
    assert {**default.get_config(), "name": registered.name} == registered.get_config()
    changes = {"ffn_dropout": 0.1, "ffn_multiplier": 1.5, "layer_norm_eps": 1e-3, "n_attn_blocks": [1, 1, 2]}
    config = {**mobilevit_v2.DEFAULTS, **changes}
    other = without_values(lambda: mobilevit_v2.build(config, (33, 40, 3), num_classes=3))
    assert (other.dropout_rate, other.layer_norm_epsilon) == (0.1, 1e-3)
    assert (other.mlp_dims, other.depths) == ((192, 288, 384), (1, 2, 1, 1, 2))


@pytest.mark.once
def test_another_activation_is_named():
    config = {**vit.DEFAULTS, "architectures": ["ViTForImageClassification"], "hidden_act": "relu"}
    with pytest.raises(
        ValueError, match=r"hidden_act of config\.json has to be 'gelu'; .* hidden_act='relu'"
    ):
        vit.build(config, None, num_classes=3)


def test_a_pooler_is_not_read():
    fixture, weights, model = imported("hf_vit")
    expected = outputs(model, reference.images(fixture))
    pooler = {"vit.pooler.dense.weight": np.ones((14, 14)), "vit.pooler.dense.bias": np.ones(14)}
    load(vit, model, weights | pooler)
    np.testing.assert_array_equal(outputs(model, reference.images(fixture)), expected)
