"""What only detectors have: outputs of each decoder layer, backbones of all families, boxes."""

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.layers import BoxLogits
from tests.models.running import outputs
from tests.models.small import TOKENS, small_model

IMAGES = np.random.default_rng(0).normal(size=(2, 32, 32, 3)).astype("float32")
ONE_LEVEL = {"backbone_features": ("map",), "num_levels": 2}


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("box_refinement", [False, True])
def test_auxiliary_outputs_are_those_of_a_shorter_decoder(box_refinement):
    """A decoder without its last layer, whose heads have the same weights, gives them."""
    longer = small_model("deformable_detr_tiny", box_refinement=box_refinement)
    shorter = small_model("deformable_detr_tiny", box_refinement=box_refinement, decoder_layers=1)
    for layer in shorter.layers:
        if layer.weights:
            layer.set_weights(longer.get_layer(layer.name).get_weights())
    found, last = outputs(hsvit_keras.with_auxiliary_outputs(longer), IMAGES), outputs(longer, IMAGES)
    assert list(found) == ["logits", "boxes", "logits_0", "boxes_0"]
    for name, expected in outputs(shorter, IMAGES).items():
        np.testing.assert_allclose(found[f"{name}_0"], expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(found[name], last[name])


@pytest.mark.once
def test_auxiliary_outputs_of_other_models_are_refused():
    with pytest.raises(ValueError, match="'unet_tiny' has none"):
        hsvit_keras.with_auxiliary_outputs(small_model("unet_tiny"))


@pytest.mark.once
@pytest.mark.parametrize(
    ("backbone", "arguments", "features", "sizes"),
    [
        ("deit_tiny", {**TOKENS, "patch_size": 8}, ("map",), ((4, 4), (2, 2), (1, 1))),
        pytest.param(
            "mobilenet_v2_100",
            {},
            ("stage2", "stage4", "stage6"),
            ((4, 4), (2, 2), (1, 1)),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "hsvit_tiny", {}, ("stage0", "stage1"), ((16, 16), (8, 8), (4, 4)), marks=pytest.mark.slow
        ),
    ],
)
def test_backbones(backbone, arguments, features, sizes):
    model = small_model(
        "deformable_detr_tiny", backbone=backbone, backbone_arguments=arguments, backbone_features=features
    )
    assert model.get_layer("encoder0_attention").map_sizes == sizes
    inside = model.get_layer("backbone")
    whole = hsvit_keras.create_model(backbone, input_shape=(32, 32, 3), head=None, **arguments)
    for layer in inside.layers:
        whole.get_layer(layer.name).set_weights(layer.get_weights())
    maps = outputs(inside, IMAGES)
    for found, name in zip([maps] if len(features) == 1 else maps, features, strict=True):
        np.testing.assert_allclose(found, outputs(whole, IMAGES)[name], rtol=1e-5, atol=1e-6)


@pytest.mark.once
def test_boxes_are_relative_to_references():
    """By the formula of the authors: sigmoid(offset + inverse sigmoid(reference))."""
    rng = np.random.default_rng(0)
    offsets, references = rng.normal(size=(2, 3, 4)), 4 * rng.normal(size=(2, 3, 4))
    references[0, 0, 0] = 40.0  # whose sigmoid is 1 in float32
    for size in (2, 4):
        point = 1 / (1 + np.exp(-references[..., :size]))
        inverse = np.log(np.maximum(point, 1e-5) / np.maximum(1 - point, 1e-5))
        expected = offsets + np.pad(inverse, ((0, 0), (0, 0), (0, 4 - size)))
        found = BoxLogits()(offsets.astype("float32"), references[..., :size].astype("float32"))
        np.testing.assert_allclose(keras.ops.convert_to_numpy(found), expected, rtol=1e-4, atol=2e-4)


@pytest.mark.once
def test_first_answers():
    """Every class has a probability of 0.01 at first, every box a side of sigmoid(-2)."""
    model = hsvit_keras.create_model("deformable_detr_tiny")
    model.get_layer("class_head").set_weights(
        [0 * weight if weight.ndim == 2 else weight for weight in model.get_layer("class_head").get_weights()]
    )
    found = outputs(model, np.zeros((1, 96, 96, 3), "float32"))
    np.testing.assert_allclose(1 / (1 + np.exp(-found["logits"])), 0.01, rtol=1e-4)
    np.testing.assert_allclose(found["boxes"][..., 2:], 1 / (1 + np.exp(2)), rtol=1e-4)


@pytest.mark.once
def test_half_precision_keeps_boxes():
    model = small_model("deformable_detr_tiny", dtype="mixed_bfloat16")
    assert model.output["boxes"].dtype == "float32" and model.output["logits"].dtype == "bfloat16"


@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hidden_dim": 18, "group_norm_groups": 2}, "hidden_dim has to be a multiple of 4"),
        ({"num_heads": 3}, "num_heads has to divide hidden_dim"),
        ({"group_norm_groups": 5}, "group_norm_groups has to divide hidden_dim"),
        ({"num_queries": 0}, "num_queries has to be a Python integer of at least 1"),
        ({"dropout_rate": 1.0}, "dropout_rate has to be a number"),
        ({"backbone": "resnet"}, "there is no model 'resnet'"),
        ({"backbone_features": ("stage0", "pooled")}, "of the maps stage0, stage1 of resnet18; received"),
        ({"num_levels": 1}, "1 to num_levels=1 of the maps"),
        ({"class_names": ["one"]}, "class_names has to name each of the 5 classes"),
    ],
)
def test_what_does_not_fit_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        small_model("deformable_detr_tiny", **arguments)


@pytest.mark.once
def test_backbone_of_a_classifier():
    """Positions are interpolated bilinearly: a ramp stays a ramp, and ends at the outer pixels."""
    arguments = {**TOKENS, "patch_size": 8}
    classifier = hsvit_keras.create_model("deit_tiny", input_shape=(32, 32, 3), num_classes=2, **arguments)
    positions = classifier.get_layer("position_embedding")
    rows, columns = np.divmod(np.arange(16), 4)
    ramp = np.zeros((17, 16), "float32")
    ramp[0], ramp[1:, 0], ramp[1:, 1] = 7.0, rows, columns
    positions.set_weights([ramp])
    detector = small_model(
        "deformable_detr_tiny", input_shape=(48, 64, 3), backbone="deit_tiny", backbone_arguments=arguments,
        **ONE_LEVEL,
    )  # fmt: skip
    hsvit_keras.load_backbone(detector, classifier)
    inside = detector.get_layer("backbone")
    (found,) = inside.get_layer("position_embedding").get_weights()
    np.testing.assert_array_equal(found[0], ramp[0])
    found = found[1:].reshape(6, 8, 16)
    for axis, size in ((0, 6), (1, 8)):
        expected = np.clip((np.arange(size) + 0.5) * 4 / size - 0.5, 0, 3)
        shown = np.moveaxis(found[..., axis], axis, -1)
        np.testing.assert_allclose(shown, np.broadcast_to(expected, shown.shape), atol=1e-6)
    for layer in inside.layers:
        if layer.weights and layer.name != "position_embedding":
            for one, other in zip(layer.weights, classifier.get_layer(layer.name).weights, strict=True):
                np.testing.assert_array_equal(one, other)

    other = hsvit_keras.create_model("resnet18", input_shape=(32, 32, 3), num_classes=2)
    with pytest.raises(ValueError, match="'resnet18' do not fit the backbone: patch_embedding is missing"):
        hsvit_keras.load_backbone(detector, other)
    with pytest.raises(ValueError, match="'resnet18' is neither a DeformableDETR nor a TimeSformer"):
        hsvit_keras.load_backbone(other, classifier)
