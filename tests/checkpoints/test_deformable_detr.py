"""Deformable attention and Deformable DETR: the authors' weights give the authors' numbers."""

import functools

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.layers import DeformableAttention
from tests import reference
from tests.models.running import outputs

MODULES = {  # the authors' module -> our layer
    "value_proj": "attention_value",
    "attention_weights": "attention_scores",
    "transformer.encoder.layers.0.self_attn": "encoder0_attention_output",
    "transformer.encoder.layers.0": "encoder0_mlp_norm",
    "transformer.reference_points": "reference_points",
    "transformer.decoder.layers.0.self_attn": "decoder0_self_output",
    "transformer.decoder.layers.0.cross_attn": "decoder0_cross_output",
    "transformer.decoder.layers.0": "decoder0_mlp_norm",
}


@functools.cache
def imported(name):
    """The fixture of this name, the authors' weights, and our model."""
    fixture = reference.load(name)
    weights = reference.weights(fixture)
    return fixture, weights, hsvit_keras.from_torch(name, fixture["config"], weights)


@pytest.mark.parametrize("name", ["ms_deform_attn", "ms_deform_attn_box"])
@pytest.mark.parametrize("sampling", ["gathers", "hat_functions"])
def test_deformable_attention(name, sampling):
    fixture, _, model = imported(name)
    model.get_layer("attention").sampling = sampling
    check(fixture, {"": model}, {"": fixture["output_float64"]})


@pytest.mark.parametrize("name", ["deformable_detr", "deformable_detr_refine"])
def test_detector(name):
    """All attention of a copy is sampled by gathers; on maps so small it is by hat functions."""
    fixture, _, model = imported(name)
    for layer in model.layers:
        if isinstance(layer, DeformableAttention):
            layer.sampling = "gathers" if layer.name.startswith("decoder") else "auto"
    expected = fixture["output_float64"]
    ours = {"logits": model.output["logits"], "boxes": model.output["boxes"]}
    check(
        fixture,
        {name: keras.Model(model.input, tensor) for name, tensor in ours.items()},
        {"logits": expected["pred_logits"], "boxes": expected["pred_boxes"]},
    )


def check(fixture, models, expected):
    """The outputs of models and the first's values on the way are those of a fixture."""
    model, given = next(iter(models.values())), reference.inputs(fixture)
    probes = [c for c in fixture["checkpoints"] if c["module"] in MODULES]
    tensors = [model.get_layer(MODULES[c["module"]]).output for c in probes]
    found = outputs(keras.Model(model.input, [*(m.output for m in models.values()), *tensors]), given)
    for name, output in zip(models, found, strict=False):
        assert np.abs(output - expected[name]).max() <= fixture["suggested_atol"]
    assert probes
    for checkpoint, value in zip(probes, found[len(models) :], strict=True):
        if checkpoint["module"].startswith("transformer.decoder.layers.0.self"):
            value = value.transpose(1, 0, 2)  # theirs are (queries, batch, dim)
        assert list(value.shape) == checkpoint["shape"]
        np.testing.assert_allclose(value.ravel()[:8], checkpoint["first"], rtol=1e-5, atol=3e-6)
        is_padded = fixture["name"] == "deformable_detr_refine" and ".encoder." in checkpoint["module"]
        if not is_padded:  # nothing reads queries of padding, which stand elsewhere in the authors' program
            np.testing.assert_allclose(value.mean(), checkpoint["mean"], rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(value.std(), checkpoint["std"], rtol=1e-5)


@pytest.mark.once
@pytest.mark.parametrize(
    "name", ["ms_deform_attn", "ms_deform_attn_box", "deformable_detr", "deformable_detr_refine"]
)
def test_parameter_count(name):
    """Less the class heads that nothing reads behind refinement."""
    fixture, _, model = imported(name)
    sizes = dict(fixture["params"])
    unused = sum(int(np.prod(sizes[key])) for key in fixture["unused_params"])
    assert model.count_params() == fixture["num_params"] - unused


@pytest.mark.once
def test_other_names_of_shared_heads_are_known():
    """A checkpoint of the authors holds them several times, as the modules that share them."""
    fixture, weights, _ = imported("deformable_detr")
    whole = {**weights, **{alias: weights[name] for alias, name in fixture["tied_params"]}}
    assert len(whole) > len(weights)
    hsvit_keras.from_torch("deformable_detr", fixture["config"], whole)


@pytest.mark.once
def test_what_does_not_fit_is_named():
    fixture, weights, _ = imported("deformable_detr")
    with pytest.raises(ValueError, match="two_stage has to be False"):
        hsvit_keras.from_torch("deformable_detr", {**fixture["config"], "two_stage": True}, weights)
    less = {name: tensor for name, tensor in weights.items() if name != "query_embed.weight"}
    with pytest.raises(ValueError, match=r"query_embed\.weight is missing"):
        hsvit_keras.from_torch("deformable_detr", fixture["config"], less)


@pytest.mark.once
@pytest.mark.slow
def test_checkpoint_with_a_backbone():
    """The authors' names of a ResNet-50 inside of a detector are those of torchvision behind a prefix."""
    fixture = reference.load("deformable_detr_refine")
    config = {name: value for name, value in fixture["config"].items() if "image_size" not in name}
    config["backbone"] = "resnet50"
    del config["backbone_channels"]
    with pytest.raises(ValueError) as error:
        hsvit_keras.from_torch(
            "deformable_detr_refine", config, reference.weights(fixture), input_shape=(64, 64, 3)
        )
    assert "backbone.0.body.conv1.weight is missing, the model needs it with shape (64, 3, 7, 7)" in str(
        error.value
    )
    # The rest fits: 53 convolutions with a normalization of 4 tensors, and 4 projections of other widths.
    named = 8 + int(str(error.value).rpartition("and ")[2].split()[0])
    assert named == 53 * 5 + 4
