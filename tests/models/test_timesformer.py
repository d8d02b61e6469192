"""TimeSformer: what it starts from, what it counts, what it refuses."""

import json
import math

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_keras.models import registry
from tests import reference
from tests.models.counting import count, outline
from tests.models.running import outputs

IMAGE = {
    "input_shape": (16, 24, 1), "patch_size": 8, "hidden_dim": 16, "depth": 2, "num_heads": 2, "mlp_dim": 32,
}  # fmt: skip
RNG = np.random.default_rng(0)
COUNTS = json.loads((reference.FOLDER / "param_counts_video.json").read_text())
BACKBONES = {
    "DeiT-Tiny": "deit_tiny",
    "DeiT-Scaled-Tiny": "deit_scaled_tiny",
    "DeiT-Small": "deit_small",
    "DeiT-Scaled-Small": "deit_scaled_small",
}


def rows():
    """The rows of the paper's Table 9; the first of divided attention is fast."""
    for row in COUNTS["rows"]:
        is_fast = (row["attention"], row["model"]) == ("divided", "DeiT-Tiny")
        marks = () if is_fast else pytest.mark.slow
        yield pytest.param(row, id=f"{row['attention']}-{row['model']}", marks=marks)


def image_model(**arguments):
    """A small DeiT with random weights, also in its biases and norms."""
    model = hsvit_keras.create_model("deit_tiny", num_classes=5, mean=0.4, std=0.3, **IMAGE | arguments)
    model.set_weights([RNG.normal(0.3, 0.3, weight.shape) for weight in model.weights])
    return model


def test_starts_with_the_logits_of_the_image():
    """Of equal frames: attention over them adds nothing, and attention over patches is that of the image."""
    start = image_model()
    model = hsvit_keras.TimeSformer.from_image_model(start, frames=3)
    assert model.input_shape == (None, 3, 16, 24, 1)
    images = RNG.uniform(0, 255, (2, 16, 24, 1)).astype("float32")
    clips = np.repeat(images[:, None], 3, axis=1)
    np.testing.assert_allclose(outputs(model, clips), outputs(start, images), rtol=1e-4, atol=1e-4)


@pytest.mark.once
def test_starts_as_the_authors_program_does():
    start = image_model()
    model = hsvit_keras.TimeSformer.from_image_model(start, num_classes=7, class_names=tuple("abcdefg"))
    for i in range(2):
        for part in ("norm", "attention_query", "attention_key", "attention_value", "attention_output"):
            for copy in (f"block{i}_{part}", f"block{i}_temporal_{part}"):
                for ours, theirs in zip(
                    model.get_layer(copy).get_weights(),
                    start.get_layer(f"block{i}_{part}").get_weights(),
                    strict=True,
                ):
                    np.testing.assert_array_equal(ours, theirs)
        assert not any(weight.any() for weight in model.get_layer(f"block{i}_temporal_output").get_weights())
    assert not model.get_layer("time_embedding").get_weights()[0].any()
    assert model.output_shape == (None, 7)  # a head of other classes starts anew
    joint = hsvit_keras.TimeSformer.from_image_model(start, attention="joint")
    np.testing.assert_array_equal(
        joint.get_layer("head").get_weights()[0], start.get_layer("head").get_weights()[0]
    )
    assert joint.get_config()["mean"] == 0.4


@pytest.mark.parametrize("attention", ["divided", "joint"])
def test_the_order_of_frames_counts(attention):
    model = hsvit_keras.create_model("timesformer_tiny", input_shape=(3, 12, 12, 1), attention=attention)
    clip = RNG.normal(size=(1, 3, 12, 12, 1)).astype("float32")
    assert np.abs(outputs(model, clip) - outputs(model, clip[:, ::-1].copy())).max() > 1e-3


@pytest.mark.once
@pytest.mark.parametrize("attention", ["divided", "joint"])
def test_no_tensor_behind_the_input_has_more_than_four_axes(attention):
    model = hsvit_keras.create_model("timesformer_tiny", attention=attention, mean=0.5, std=0.5)
    ranks = {layer.name: len(layer.output.shape) for layer in model.layers}
    assert ranks.pop("clip") == 5
    assert max(ranks.values()) <= 4


@pytest.mark.once
def test_frames_are_dropped_apart():
    """As in the authors' program, where frames, and places over time, are beside the batch."""
    model = hsvit_keras.create_model("timesformer_tiny", stochastic_depth_rate=0.2)
    shapes = {layer.name: layer.noise_shape for layer in model.layers if layer.name.endswith("_drop")}
    assert shapes["block2_temporal_drop"] == (None, 1, 16, 1)
    assert shapes["block2_attention_drop"] == (None, 1, 8, 1)
    assert shapes["block2_mlp_drop"] == (None, 1, 1)


@pytest.mark.once
@pytest.mark.parametrize("row", list(rows()))
def test_counts_of_the_papers_models(row):
    """All parameters but the class token's position, and all multiply-adds but those of the last block that
    are only of tokens which nothing reads.
    """
    model = outline(f"timesformer_{row['attention']}_{BACKBONES[row['model']]}")
    size = row["hyper"]
    dim, patches = size["h"] * size["e"], (size["I"] // size["p"]) ** 2
    assert count(model) == row["trainable"] - dim
    tokens = patches * size["frames"]
    unread = tokens * 2 * dim * size["r"] * dim
    if row["attention"] == "joint":
        unread += tokens * 2 * dim * (dim + tokens + 1)
    assert count_multiply_adds(model) == row["multiply_adds"] - unread
    norms = [layer for layer in model.layers if isinstance(layer, keras.layers.LayerNormalization)]
    normalized = sum(math.prod(norm.output.shape[1:]) for norm in norms) + tokens * dim  # theirs: all tokens
    flops = row["multiply_adds"] + 5 * normalized
    assert flops == row["multiply_adds_plus_5_per_layernorm_element"]
    if not row["model"].startswith("DeiT-Scaled"):  # of which the paper's figures are not met
        assert f"{flops / 1e9:.1f}" == str(row["printed_G"])


@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input_shape": (24, 24, 1)}, r"\(frames, height, width, channels\), four positive integers"),
        ({"input_shape": (0, 24, 24, 1)}, "frames, has to be a Python integer of at least 1"),
        ({"input_shape": (8, 24, 25, 1)}, "patch_size has to divide height and width"),
        ({"attention": "space"}, "attention has to be one of 'divided', 'joint'; received attention='space'"),
        ({"num_heads": 5}, "num_heads has to divide hidden_dim"),
        ({"head": "classification"}, "head has to be 'video_classification' or None"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        hsvit_keras.create_model("timesformer_tiny", **arguments)


@pytest.mark.once
def test_wrong_starts():
    with pytest.raises(ValueError, match="without distillation token, such as deit_tiny; received Vision"):
        hsvit_keras.TimeSformer.from_image_model(image_model(distilled=True))
    with pytest.raises(ValueError, match="received Functional"):
        inputs = keras.Input((4, 4, 1))
        hsvit_keras.TimeSformer.from_image_model(keras.Model(inputs, inputs))
    with pytest.raises(ValueError, match="frames has to be a Python integer of at least 1"):
        hsvit_keras.TimeSformer.from_image_model(image_model(), frames=0)
    model = hsvit_keras.TimeSformer.from_image_model(image_model(), frames=2)
    before = model.get_weights()
    larger = image_model(input_shape=(24, 24, 1))
    with pytest.raises(
        ValueError, match=r"do not fit .*: position_embedding has the shapes \[\(\d+, 1, \d+\)\]"
    ):
        model.take_weights(larger)
    for now, then in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.once
def test_a_checkpoint_of_the_wrapping_class():
    """As the authors publish them: `{"model_state": {"model.cls_token": ...}}`."""
    fixture = reference.load("timesformer_joint")
    wrapped = {f"model.{name}": tensor for name, tensor in reference.weights(fixture).items()}
    model = hsvit_keras.from_torch("timesformer_joint", fixture["config"], wrapped)
    logits = outputs(model, reference.images(fixture))
    np.testing.assert_allclose(logits, fixture["output_float64"], atol=fixture["suggested_atol"])


@pytest.mark.once
def test_a_checkpoint_of_the_other_attention_is_refused():
    fixture = reference.load("timesformer_joint")
    with pytest.raises(ValueError, match="'timesformer_divided' has attention_type='divided_space_time'"):
        hsvit_keras.from_torch("timesformer_divided", fixture["config"], reference.weights(fixture))


@pytest.mark.once
def test_clips_of_another_size_than_the_checkpoints():
    fixture = reference.load("timesformer_joint")
    with pytest.raises(ValueError, match=r"time_embed has shape \(1, 5, 8\), the model needs \(1, 4, 8\)"):
        hsvit_keras.from_torch(
            "timesformer_joint", fixture["config"], reference.weights(fixture), input_shape=(4, 8, 16, 3)
        )


@pytest.mark.once
def test_variants():
    names = [f"timesformer_{kind}_{name}" for kind in ("divided", "joint") for name in BACKBONES.values()]
    assert {*names, "timesformer_tiny"} <= set(hsvit_keras.list_models("timesformer*"))
    assert registry._VARIANTS["timesformer_joint_deit_scaled_tiny"].input_shape == (8, 160, 160, 3)
