"""Models without a head: named features of every family, and what passes make of them."""

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.layers.model_description import describe, description_of
from hsvit_keras.models import registry
from tests.models.running import images, outputs
from tests.models.small import ELSEWHERE, NUM_CLASSES, grown_model, small_model
from tests.parameters import slow_but

# For each model: its features, each with the layer of the model with head that has its values, and its shape.
POOLED = {"pooled": ("head_norm", (16,))}
DISTILLED = {
    "pooled": ("head_features", (16,)),
    "pooled_distillation": ("head_distillation_features", (16,)),
}
INVERTED_RESIDUALS = {
    "stage0": ("stage0_block0_project_norm", (8, 8, 8)),
    "stage1": ("stage1_block1_add", (4, 4, 16)),
    "pooled": ("mean_map", (32,)),
}
FEATURES = {
    "cct": {
        "stage0": ("tokenizer_pool0", (16, 16, 64)),
        "stage1": ("tokenizer_pool1", (16, 16, 64)),
        "stage2": ("tokenizer_pool2", (16, 16, 16)),
        "map": ("block1_mlp_add", (16, 16, 16)),
        "pooled": ("head_pool", (16,)),
    },
    "cvt": {
        "stage0": ("stage0_block0_mlp_add", (16, 16, 8)),
        "stage1": ("stage1_block0_mlp_add", (16, 16, 8)),
        "stage2": ("stage2_block1_mlp_add", (16, 16, 8)),
        "pooled": ("mean_map", (8,)),
    },
    "cvt_21": {
        "stage0": ("stage0_block0_mlp_add", (5, 5, 8)),
        "stage1": ("stage1_block1_mlp_add", (3, 3, 16)),
        "pooled": ("head_norm", (16,)),
    },
    "deit_base": {"map": ("block1_mlp_add", (4, 4, 16)), **POOLED},
    "deformable_detr_tiny": {
        "queries": ("decoder1_mlp_norm", (3, 16)),
        "references": ("decoder0_box", (3, 4)),
        "encoded": ("encoder0_mlp_norm", (84, 16)),
    },
    "deit_base_distilled": {"map": ("block1_mlp_add", (4, 4, 16)), **DISTILLED},
    "dhvt_s_domainnet": {
        "stage0": ("patch_gelu0", (16, 16, 2)),
        "stage1": ("patch_gelu1", (8, 8, 4)),
        "stage2": ("patch_gelu2", (4, 4, 8)),
        "stage3": ("patch_affine_out", (2, 2, 16)),
        "map": ("block1_mlp_add", (2, 2, 16)),
        **POOLED,
    },
    "efficientnet_b0": {**INVERTED_RESIDUALS, "map": ("head_conv_silu", (4, 4, 32))},
    "efficientformer_l1": {
        "stage0": ("stage0_block0_mlp_add", (4, 4, 8)),
        "stage1": ("stage1_block1_mlp_add", (2, 2, 16)),
        "pooled": ("mean_token", (16,)),
    },
    "fnet2d": {"map": ("block1_add", (16, 16, 8)), "pooled": ("mean_map", (8,))},
    "hsvit_c3a4": {
        "stage0": ("stage0_pool", (8, 8, 8)),
        "stage1": ("stage1_pool", (4, 4, 8)),
        "stage2": ("stage2_pool", (2, 2, 16)),
        "class_tokens": ("group_answers", (4, 16)),
        **POOLED,
    },
    "hvt_s_1": {
        "stage0": ("block0_mlp_add", (8, 8, 16)),
        "stage1": ("block2_mlp_add", (31, 16)),  # the sequence is pooled, there is no grid any more
        "stage2": ("block3_mlp_add", (15, 16)),
        "pooled": ("mean_token", (16,)),
    },
    "hvt_s_2_2d": {
        "stage0": ("block0_mlp_add", (8, 8, 16)),
        "stage1": ("block2_mlp_add", (4, 4, 16)),
        "stage2": ("block3_mlp_add", (2, 2, 16)),
        "pooled": ("mean_token", (16,)),
    },
    "hybrid_mlp_mixer": {
        "stage0": ("embedding_conv2", (16, 16, 8)),
        "map": ("block1_channels_add", (16, 16, 8)),
        "pooled": ("mean_token", (8,)),
    },
    "hybrid_vit": {
        "stage0": ("embedding_conv2", (16, 16, 16)),
        "map": ("block1_mlp_add", (16, 16, 16)),
        **POOLED,
    },
    "levit": {
        "stage0": ("embedding_conv2", (16, 16, 16)),
        "map": ("block1_mlp_add", (16, 16, 16)),
        "pooled": ("mean_token", (16,)),
    },
    "mobilevit_s": {
        "stage0": ("stage0_residual0_add", (12, 20, 8)),
        "stage1": ("stage1_residual1_add", (6, 10, 8)),
        "stage2": ("stage2_fusion_conv_silu", (3, 5, 16)),
        "pooled": ("mean_map", (16,)),
    },
    "mobilevitv2_050": {
        "stage0": ("stage0_residual0_add", (10, 14, 8)),
        "stage1": ("stage1_output_conv_norm", (5, 7, 16)),
        "pooled": ("mean_map", (16,)),
    },
    "pit_b_distilled": {
        "stage0": ("stage0_block0_mlp_add", (7, 7, 4)),
        "stage1": ("stage1_block0_mlp_add", (4, 4, 8)),
        "stage2": ("stage2_block0_mlp_add", (2, 2, 16)),
        **DISTILLED,
    },
    "mobilenet_v2_100": {**INVERTED_RESIDUALS, "map": ("head_conv_relu6", (4, 4, 32))},
    "pix_pit": {
        "stage0": ("stage0_block0_mlp_add", (16, 16, 16)),
        "stage1": ("stage1_block0_mlp_add", (8, 8, 32)),
        "pooled": ("head_norm", (32,)),
    },
    "resnet50": {
        "stage0": ("stage0_block0_relu", (4, 4, 8)),
        "stage1": ("stage1_block1_relu", (2, 2, 8)),
        "stage2": ("stage2_block0_relu", (1, 1, 16)),
        "pooled": ("mean_map", (16,)),
    },
    "swiftformer_s": {
        "stage0": ("stage0_block1_mlp_add", (4, 4, 8)),
        "stage1": ("stage1_block0_mlp_add", (2, 2, 16)),
        "pooled": ("mean_map", (16,)),
    },
    "timesformer_divided_deit_scaled_small": {"tokens": ("block1_mlp_add", (6, 3, 16)), **POOLED},
    "unet_tiny": {
        "stage0": ("stage0_conv1_relu", (16, 16, 8)),
        "stage1": ("stage1_conv1_relu", (8, 8, 8)),
        "stage2": ("stage2_conv1_relu", (4, 4, 16)),
        "up1": ("up1_conv1_relu", (8, 8, 8)),
        "up0": ("up0_conv1_relu", (16, 16, 8)),
    },
    "vit": {"map": ("block1_mlp_add", (16, 16, 16)), **POOLED},
}


QUICK = ["deit_base_distilled", "dhvt_s_domainnet", "hsvit_c3a4", "unet_tiny"]


def test_every_family_is_here():
    classes = {registry._VARIANTS[name].model_class for name in FEATURES}
    known = {variant.model_class for variant in registry._VARIANTS.values()}
    assert classes == {model_class for model_class in known if model_class.__name__ not in ELSEWHERE}


@pytest.mark.once
@pytest.mark.parametrize("name", slow_but(QUICK, FEATURES))
def test_features_are_tensors_of_the_model_with_head(name, tmp_path):
    model, backbone = small_model(name), small_model(name, head=None)
    inside = {feature: layer for feature, (layer, _) in FEATURES[name].items()}
    shapes = {feature: (2, *shape) for feature, (_, shape) in FEATURES[name].items()}
    for layer in backbone.layers:
        if layer.weights:
            layer.set_weights([1.1 * w for w in model.get_layer(layer.name).get_weights()])
            model.get_layer(layer.name).set_weights(layer.get_weights())

    given = images(model)
    features = outputs(backbone, given)
    probes = {feature: model.get_layer(layer).output for feature, layer in inside.items()}
    values = outputs(keras.Model(model.input, probes), given)
    assert {feature: value.shape for feature, value in features.items()} == shapes
    for feature, value in values.items():
        height_by_width = int(np.prod(shapes[feature][1:-1]))
        if len(value.shape) == 3:  # class tokens stand in front of the map
            value = value[:, -height_by_width:].reshape(shapes[feature])
        np.testing.assert_allclose(features[feature], value, rtol=1e-5, atol=1e-6)

    backbone.save(tmp_path / "backbone.keras")
    loaded = keras.models.load_model(tmp_path / "backbone.keras")
    assert loaded.get_config() == backbone.get_config()
    keras.tree.map_structure(np.testing.assert_array_equal, outputs(loaded, given), features)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name", slow_but(["unet_tiny"], ["deit_base_distilled", "hsvit_c3a4", "unet_tiny"]))
def test_passes_keep_the_names(name, tmp_path):
    backbone = grown_model(name, head=None, mean=0.5, std=0.25, data_set="digits")
    given = np.random.default_rng(0).uniform(0, 255, (2, *backbone.input_shape[1:])).astype("float32")
    features = outputs(backbone, given)

    def check(model, atol):
        found = outputs(model, given)
        assert found.keys() == features.keys() == FEATURES[name].keys()
        for feature, value in features.items():
            np.testing.assert_allclose(found[feature], value, rtol=1e-4, atol=atol * np.abs(value).max())
        assert description_of(model).data_set == "digits"

    check(hsvit_keras.fold_batch_norm(backbone), 1e-5)
    quantized = hsvit_keras.calibrate(backbone, [given])
    check(quantized, 0.1)
    check(hsvit_keras.remove_quantization(quantized), 1e-5)
    check(describe(backbone, task="tensors"), 0)
    quantized.save(tmp_path / "quantized.keras")
    loaded = keras.models.load_model(tmp_path / "quantized.keras")
    keras.tree.map_structure(np.testing.assert_array_equal, outputs(loaded, given), outputs(quantized, given))


def test_slimming_leaves_the_shapes_of_features():
    backbone = small_model("deit_base", head=None)
    parts = hsvit_keras.slimmable_parts(backbone)
    assert parts["heads"] and parts["mlp_units"]
    slimmed = hsvit_keras.slim(backbone, heads=0.5, mlp_units=0.5)
    assert slimmed.count_params() < backbone.count_params()
    assert {name: x.shape for name, x in slimmed.output.items()} == {
        name: x.shape for name, x in backbone.output.items()
    }
    # Kernels that are themselves given out stay.
    assert hsvit_keras.slimmable_parts(small_model("hsvit_c3a4", head=None))["groups"] == 0


def test_description_of_features():
    names = [f"class {i}" for i in range(NUM_CLASSES)]
    arguments = {"mean": 0.5, "std": 0.5, "class_names": names, "data_set": "digits"}
    told = description_of(small_model("vit", head=None, **arguments))
    assert (told.task, told.class_names, told.data_set, told.input_range) == (None, None, "digits", (0, 255))
    assert description_of(small_model("vit", **arguments)).class_names == tuple(names)
    assert description_of(small_model("vit", **arguments)).task == "classification"


@pytest.mark.once
@pytest.mark.parametrize(("name", "head"), [("vit", "segmentation"), ("vit", ""), ("unet_tiny", "detection")])
def test_an_unknown_head_is_named(name, head):
    known = "segmentation" if name == "unet_tiny" else "classification"
    with pytest.raises(ValueError, match=f"head has to be '{known}' or None; received head='{head}'"):
        small_model(name, head=head)
