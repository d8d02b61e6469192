"""Parts and head together equal the whole model; without a part they equal the model without its groups."""

import functools

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras import shard, slim
from tests.compression.test_slimming import with_random_weights
from tests.models.running import ON_JAX, images, outputs, without_tracing
from tests.models.small import small_model
from tests.parameters import slow_but

# Arguments of the ways in which groups see the image.
STEMS = {
    "shared": {},
    "split": {"stem": "split"},
    "separable": {"separable": True},
    "parts": {"stem": "split", "image_grid": (1, 2)},
}


def hsvit(stem="shared"):
    return with_random_weights(small_model("hsvit_c2a2", depth=1, **STEMS[stem]))


shared_hsvit = functools.cache(hsvit)  # for tests that do not modify it


def joined_outputs(parts, head, pictures):
    return outputs(head, np.concatenate([outputs(part, pictures) for part in parts], axis=1))


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("stem", slow_but(["shared", "split"], STEMS))
@pytest.mark.parametrize("num_shards", slow_but([4], [1, 3, 4]))
def test_all_parts_together_equal_the_model(num_shards, stem):
    model = shared_hsvit(stem)
    parts, head = shard(model, num_shards)
    assert [part.output_shape[1] for part in parts] == {1: [4], 3: [2, 1, 1], 4: [1] * 4}[num_shards]
    pictures = images(model)
    np.testing.assert_allclose(joined_outputs(parts, head, pictures), outputs(model, pictures), atol=1e-5)


def test_without_some_parts_the_output_is_that_of_the_other_groups():
    model = shared_hsvit()
    parts, head = shard(model, 4)
    pictures = images(model)
    rest = joined_outputs([parts[3], parts[0]], head, pictures)  # in any order
    np.testing.assert_allclose(rest, outputs(slim(model, groups=[0, 3]), pictures), atol=1e-5)
    assert np.abs(rest - outputs(model, pictures)).max() > 1e-3


def test_a_part_has_only_its_own_kernels():
    filters, kernels = {}, {}
    for stem in ("shared", "split"):
        (part, *_), _ = shard(shared_hsvit(stem), 4)
        convolutions = [part.get_layer(f"stage{i}_conv{j}") for i in (0, 1) for j in (0, 1)]
        filters[stem] = [convolution.filters for convolution in convolutions]
        kernels[stem] = [convolution.kernel.shape for convolution in convolutions]
    # A quarter of the 8 and 16 kernels of the stages are 2 and 4.
    assert filters == {"shared": [8, 8, 16, 4], "split": [2, 2, 4, 4]}
    assert kernels["shared"] == [(3, 3, 3, 8), (3, 3, 8, 8), (3, 3, 8, 16), (3, 3, 16, 4)]
    assert kernels["split"] == [(3, 3, 3, 2), (3, 3, 2, 2), (3, 3, 2, 4), (3, 3, 4, 4)]


def test_groups_of_a_split_stem_are_independent():
    model = hsvit("split")
    class_tokens = keras.Model(model.input, model.get_layer("group_answers").output)
    pictures = images(model)
    before = outputs(class_tokens, pictures)
    convolution = model.get_layer("stage0_conv0")
    (kernel,) = convolution.get_weights()
    kernel[..., 2:4] += 1  # the kernels of group 1; each group has two
    convolution.set_weights([kernel])
    changed = np.abs(outputs(class_tokens, pictures) - before).max((0, 2))
    assert changed[1] > 1e-2 and (changed[[0, 2, 3]] == 0).all()


def test_groups_of_a_split_stem_are_slimmed_with_all_their_kernels():
    model = shared_hsvit("split")
    slimmed = slim(model, groups=[1, 2])
    assert [slimmed.get_layer(f"stage{i}_conv1").groups for i in (0, 1)] == [2, 2]
    pictures = images(model)
    parts, head = shard(model, 4)
    np.testing.assert_allclose(
        outputs(slimmed, pictures), joined_outputs(parts[1:3], head, pictures), atol=1e-5
    )


@pytest.mark.slow_on_jax
def test_training_updates_all_kernels_of_a_split_stem():
    model = hsvit("split")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss, run_eagerly=not ON_JAX)
    before = model.get_layer("stage1_conv1").get_weights()[0]
    model.fit(images(model), np.zeros(len(images(model))), verbose=0)
    change = np.abs(model.get_layer("stage1_conv1").get_weights()[0] - before)
    assert (change.max((0, 1, 2)) > 0).all()


def test_a_part_sees_only_its_part_of_the_image():
    """Four groups and two columns of the image: groups 0 and 1 see the left one, 2 and 3 the right one."""
    model = small_model("hsvit_c2a2", depth=1, **STEMS["parts"])
    pictures = images(model)
    changed = pictures.copy()
    changed[:, :, pictures.shape[2] // 2 :] += 1
    parts, _ = shard(model, 4)
    assert [part.get_layer("image_parts").parts for part in parts] == [(0,), (0,), (1,), (1,)]
    differences = [np.abs(outputs(part, changed) - outputs(part, pictures)).max() for part in parts]
    assert differences[:2] == [0, 0] and min(differences[2:]) > 1e-3


def test_parts_are_saved_and_loaded(tmp_path):
    model = shared_hsvit()
    parts, head = shard(model, 2)
    pictures = images(model)
    for i, part in enumerate([*parts, head]):
        part.save(tmp_path / f"{i}.keras")
    *loaded, loaded_head = [keras.models.load_model(tmp_path / f"{i}.keras") for i in range(3)]
    np.testing.assert_array_equal(
        joined_outputs(loaded, loaded_head, pictures), joined_outputs(parts, head, pictures)
    )


@pytest.mark.slow_on_jax
def test_parts_can_be_quantized():
    parts, _ = shard(shared_hsvit(), 2)
    pictures = images(parts[0])
    with without_tracing():
        quantized = hsvit_keras.calibrate(parts[0], [pictures])
    rounded, exact = outputs(quantized, pictures), outputs(parts[0], pictures)
    assert np.abs(rounded - exact).max() > 0
    assert np.corrcoef(rounded.ravel(), exact.ravel())[0, 1] > 0.98


def test_errors():
    model = shared_hsvit()
    for num_shards in (0, 5, 2.0, True):
        with pytest.raises(ValueError, match=r"num_shards has to be an integer from 1 to 4, the groups"):
            shard(model, num_shards)
    with pytest.raises(ValueError, match="'vit' has no attention groups whose class tokens are averaged"):
        shard(hsvit_keras.create_model("vit", input_shape=(16, 16, 3), hidden_dim=16, num_heads=2), 2)
    with pytest.raises(ValueError, match="is quantized: slim it before"):
        shard(hsvit_keras.quantize_aware(model), 2)
    with pytest.raises(ValueError, match=r"stem has to be one of .*received stem='cut'|stem"):
        small_model("hsvit_c2a2", stem="cut")
    with pytest.raises(ValueError, match="stem='split' needs attention groups and convolutions to split"):
        small_model("hsvit_c2a2", stem="split", attention_groups=0)
    with pytest.raises(ValueError, match=r"attention_groups.*filters\[0\]"):
        small_model("hsvit_c2a2", stem="split", filters=(6, 16))
