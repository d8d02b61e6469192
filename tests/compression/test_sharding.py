"""Parts and a head, joined, answer as the whole model does; a lost part takes its groups along."""

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras import shard, slim
from tests.compression.test_slimming import with_random_weights
from tests.models.running import images, outputs
from tests.models.small import small_model


def hsvit(**overrides):
    return with_random_weights(small_model("hsvit_c2a2", **overrides))


def joined(parts, head, pictures):
    return outputs(head, np.concatenate([outputs(part, pictures) for part in parts], axis=1))


@pytest.mark.parametrize("stem", ["shared", "split"])
@pytest.mark.parametrize("num_shards", [1, 3, 4])
def test_all_parts_together_answer_as_the_whole(num_shards, stem):
    model = hsvit(stem=stem)
    parts, head = shard(model, num_shards)
    assert [part.output_shape[1] for part in parts] == {1: [4], 3: [2, 1, 1], 4: [1] * 4}[num_shards]
    pictures = images(model)
    np.testing.assert_allclose(joined(parts, head, pictures), outputs(model, pictures), atol=1e-5)


def test_without_a_part_the_answer_is_that_of_the_other_groups():
    model = hsvit()
    parts, head = shard(model, 4)
    pictures = images(model)
    rest = joined([parts[3], parts[0]], head, pictures)  # in any order
    np.testing.assert_allclose(rest, outputs(slim(model, groups=[0, 3]), pictures), atol=1e-5)
    assert np.abs(rest - outputs(model, pictures)).max() > 1e-3


def test_a_part_computes_only_its_own_kernels():
    filters, kernels = {}, {}
    for stem in ("shared", "split"):
        (part, *_), _ = shard(hsvit(stem=stem), 4)
        convolutions = [part.get_layer(f"stage{i}_conv{j}") for i in (0, 1) for j in (0, 1)]
        filters[stem] = [convolution.filters for convolution in convolutions]
        kernels[stem] = [convolution.kernel.shape for convolution in convolutions]
    # The stages have 8 and 16 kernels, a quarter of which are 2 and 4.
    assert filters == {"shared": [8, 8, 16, 4], "split": [2, 2, 4, 4]}
    assert kernels["shared"] == [(3, 3, 3, 8), (3, 3, 8, 8), (3, 3, 8, 16), (3, 3, 16, 4)]
    assert kernels["split"] == [(3, 3, 3, 2), (3, 3, 2, 2), (3, 3, 2, 4), (3, 3, 4, 4)]


def test_columns_of_a_split_stem_see_nothing_of_each_other():
    model = hsvit(stem="split")
    answers = keras.Model(model.input, model.get_layer("group_answers").output)
    pictures = images(model)
    before = outputs(answers, pictures)
    convolution = model.get_layer("stage0_conv0")
    (kernel,) = convolution.get_weights()
    kernel[..., 2:4] += 1  # the kernels of group 1, two a group
    convolution.set_weights([kernel])
    changed = np.abs(outputs(answers, pictures) - before).max((0, 2))
    assert changed[1] > 1e-2 and (changed[[0, 2, 3]] == 0).all()


def test_groups_of_a_split_stem_are_slimmed_with_their_columns():
    model = hsvit(stem="split")
    slimmed = slim(model, groups=[1, 2])
    assert [slimmed.get_layer(f"stage{i}_conv1").groups for i in (0, 1)] == [2, 2]
    pictures = images(model)
    parts, head = shard(model, 4)
    np.testing.assert_allclose(outputs(slimmed, pictures), joined(parts[1:3], head, pictures), atol=1e-5)


def test_a_split_stem_trains():
    model = hsvit(stem="split")
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    before = model.get_layer("stage1_conv1").get_weights()[0]
    model.fit(images(model), np.zeros(len(images(model))), verbose=0)
    moved = np.abs(model.get_layer("stage1_conv1").get_weights()[0] - before)
    assert (moved.max((0, 1, 2)) > 0).all()  # every kernel of every column


def test_parts_are_saved_and_loaded(tmp_path):
    model = hsvit()
    parts, head = shard(model, 2)
    pictures = images(model)
    for i, part in enumerate([*parts, head]):
        part.save(tmp_path / f"{i}.keras")
    *loaded, loaded_head = [keras.models.load_model(tmp_path / f"{i}.keras") for i in range(3)]
    np.testing.assert_array_equal(joined(loaded, loaded_head, pictures), joined(parts, head, pictures))


def test_parts_are_quantized_one_by_one():
    parts, _ = shard(hsvit(), 2)
    pictures = images(parts[0])
    quantized = hsvit_keras.calibrate(parts[0], [pictures])
    answers, exact = outputs(quantized, pictures), outputs(parts[0], pictures)
    assert np.abs(answers - exact).max() > 0
    assert np.corrcoef(answers.ravel(), exact.ravel())[0, 1] > 0.98


def test_errors():
    model = hsvit()
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
