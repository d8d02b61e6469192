"""The outputs of a slimmed model equal those of the original with the removed parts set to zero."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.compression.graph import Graph
from hsvit_keras.layers import performer_attention
from tests.models import small
from tests.models.running import images, outputs
from tests.models.small import MODELS, small_model

NO_PART = -1
SUMMING_LAYERS = (layers.Dense, layers.EinsumDense, layers.Conv1D, layers.Conv2D)


def with_random_weights(model, seed=0):
    """Changes all weights at random, as training does: no bias is zero, no gain is one."""
    rng = np.random.default_rng(seed)
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([rng.uniform(0.5, 2, weight.shape) for weight in layer.get_weights()])
        else:
            layer.set_weights([weight + rng.normal(0, 0.1, weight.shape) for weight in layer.get_weights()])
    return model


def assert_equal_outputs(model, other):
    expected = outputs(other, images(other))
    np.testing.assert_allclose(
        outputs(model, images(model)), expected, rtol=1e-4, atol=2e-5 * np.abs(expected).max()
    )


def random_half(rng, count):
    """About half of the numbers below `count`, at least one."""
    return sorted(rng.choice(count, max(1, count // 2), replace=False).tolist())


def zero_in_readers(model, layer, parts, kept):
    """Sets the kernels of layers that read `layer` to zero for the inputs from parts not in `kept`."""
    graph = Graph(model)
    rows = np.repeat(np.arange(parts), layer.output.shape[-1] // parts)  # the part of each feature
    visited, remaining = set(), [(layer, reader, rows, np.repeat) for reader in graph.consumers(layer)]
    while remaining:
        source, reader, rows, spread = remaining.pop()
        if reader.name in visited:
            continue
        visited.add(reader.name)
        if type(reader) in SUMMING_LAYERS and reader.kernel.shape[-2] % len(rows) == 0:
            kernel, *bias = reader.get_weights()
            rows = spread(rows, kernel.shape[-2] // len(rows))  # kernels are (..., inputs, outputs)
            kernel[..., ~np.isin(rows, [*kept, NO_PART]), :] = 0
            reader.set_weights([kernel, *bias])
        else:
            spread = np.tile if isinstance(reader, layers.Flatten) else spread
            if isinstance(reader, layers.Concatenate):
                rows = _concatenated(rows, source, graph.producers(reader))
            remaining += [(reader, following, rows, spread) for following in graph.consumers(reader)]


def _concatenated(rows, source, sources):
    """The part of each feature of a concatenation, `NO_PART` of those of other sources."""
    of_others = (np.full(other.output.shape[-1], NO_PART) for other in sources)
    return np.concatenate(
        [rows if x is source else others for x, others in zip(sources, of_others, strict=True)]
    )


def ancestors(graph, layer):
    """Names of all layers that `layer` depends on."""
    found, remaining = set(), list(graph.producers(layer))
    while remaining:
        source = remaining.pop()
        if source.name not in found:
            found.add(source.name)
            remaining += graph.producers(source)
    return found


def branch(graph, add):
    """Names of the layers between the shortcut and the sum."""
    shortcut, end = graph.producers(add)
    if shortcut.name not in ancestors(graph, end):
        shortcut, end = end, shortcut
    return ({end.name} | ancestors(graph, end)) - ancestors(graph, shortcut) - {shortcut.name}


def zero(model, names):
    for name in names:
        layer = model.get_layer(name)
        layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])


def random_choice(parts, seed=0):
    """Half of all heads, units and kernels, and two of three blocks."""
    rng = np.random.default_rng(seed)
    kept = {
        kind: {name: random_half(rng, count) for name, count in parts[kind].items()}
        for kind in ("heads", "mlp_units", "kernels")
    }
    return {**kept, "blocks": [name for i, name in enumerate(parts["blocks"]) if i % 3 != 1]}


def zeroed(model, parts, kept):
    """The model with all parts set to zero that are not in `kept`."""
    graph = Graph(model)
    for kind in ("heads", "mlp_units", "kernels"):
        for name, numbers in kept[kind].items():
            zero_in_readers(model, model.get_layer(name), parts[kind][name], numbers)
    for name in set(parts["blocks"]) - set(kept["blocks"]):
        zero(model, branch(graph, model.get_layer(name)))
    return model


def families():
    """The first model with each kind of attention; others are slow, as are on JAX all but the very first.

    Detectors, which have models inside, have a test of their own.
    """
    covered = set()
    for name in (name for name in MODELS if not name.startswith("deformable_detr")):
        _, arguments = small._small(name)
        kind = arguments.get("attention"), "rotary" in arguments
        marks = [pytest.mark.slow] if kind in covered else []
        yield pytest.param(name, marks=[*marks, pytest.mark.slow_on_jax] if covered else marks)
        covered.add(kind)


@pytest.mark.parametrize("name", list(families()))
def test_every_family(name, monkeypatch):
    """Heads, units, kernels and blocks are removed at once; the kept parts can be removed again."""
    # Removed heads of Performer count in a maximum over all heads, which cancels except for this constant.
    monkeypatch.setattr(performer_attention, "_SOFTMAX_EPSILON", 0.0)
    model = with_random_weights(small_model(name))
    parts = hsvit_keras.slimmable_parts(model)
    kept = random_choice(parts)
    slimmed = hsvit_keras.slim(model, **{kind: keep for kind, keep in kept.items() if keep})
    removed = set().union(
        *(branch(Graph(model), model.get_layer(x)) | {x} for x in set(parts["blocks"]) - set(kept["blocks"]))
    )
    assert_equal_outputs(slimmed, zeroed(model, parts, kept))
    assert [x.name for x in slimmed.layers] == [x.name for x in model.layers if x.name not in removed]
    left = hsvit_keras.slimmable_parts(slimmed)
    assert (left["groups"], left["blocks"]) == (parts["groups"], kept["blocks"])
    for kind in ("heads", "mlp_units", "kernels"):
        # Kernels that only the shortcut of a removed block held are free now.
        still = {layer: count for layer, count in left[kind].items() if layer in parts[kind]}
        expected = {layer: len(numbers) for layer, numbers in kept[kind].items() if layer not in removed}
        assert still == expected


@pytest.mark.slow_on_jax
def test_a_detector():
    """Kernels of its backbone, heads and units of encoder and decoder, and blocks are removed at once."""
    detector = with_random_weights(small_model("deformable_detr_tiny"))
    inside = with_random_weights(detector.get_layer("backbone"), seed=1)
    parts = hsvit_keras.slimmable_parts(detector)
    kept = random_choice(parts)
    slimmed = hsvit_keras.slim(detector, **{kind: keep for kind, keep in kept.items() if keep})
    of_backbone = {"backbone/stage0_block0_conv0", "backbone/stage1_block0_conv0"}
    assert set(kept["kernels"]) == of_backbone
    for name in of_backbone:
        count, numbers = parts["kernels"].pop(name), kept["kernels"].pop(name)
        zero_in_readers(inside, inside.get_layer(name.removeprefix("backbone/")), count, numbers)
    pixels = images(detector)
    expected = zeroed(detector, parts, kept)(pixels, training=False)
    found = slimmed(pixels, training=False)
    for name in ("logits", "boxes"):
        one, other = map(keras.ops.convert_to_numpy, (found[name], expected[name]))
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5 * np.abs(other).max())
    assert slimmed.get_layer("backbone").get_layer("stage0_block0_conv0").filters == 4


def test_groups():
    """The logits come from the mean of the class tokens of the kept groups."""
    model = with_random_weights(small_model("hsvit_c3a4"))
    slimmed = hsvit_keras.slim(model, groups=[3, 1])
    assert hsvit_keras.slimmable_parts(slimmed)["groups"] == 2
    class_tokens = keras.Model(model.input, model.get_layer("group_answers").output)
    head = keras.Model(model.get_layer("mean_answer").output, model.output)
    expected = outputs(head, outputs(class_tokens, images(model))[:, [1, 3]].mean(axis=1))
    np.testing.assert_allclose(outputs(slimmed, images(model)), expected, rtol=1e-4, atol=1e-5)
    assert [x.name for x in slimmed.layers] == [x.name for x in model.layers]


def test_groups_are_removed_with_their_kernels():
    model = small_model("hsvit_c2a2")
    slimmed = hsvit_keras.slim(model, groups=[0, 2])
    shapes = {weight.path: weight.shape for weight in model.weights}
    changed = {
        weight.path: (shapes[weight.path], weight.shape)
        for weight in slimmed.weights
        if weight.shape != shapes[weight.path]
    }
    groups = {
        path: (old, new) for path, (old, new) in changed.items() if path.startswith(("block", "class", "pos"))
    }
    assert set(changed) - set(groups) == {
        "stage1_conv1/kernel", "stage1_norm1/gamma", "stage1_norm1/beta", "stage1_norm1/moving_mean",
        "stage1_norm1/moving_variance",
    }  # fmt: skip
    assert changed["stage1_conv1/kernel"] == ((3, 3, 16, 16), (3, 3, 16, 8))
    kernel = model.get_layer("stage1_conv1").get_weights()[0]
    np.testing.assert_array_equal(
        slimmed.get_layer("stage1_conv1").get_weights()[0], kernel[..., [0, 1, 2, 3, 8, 9, 10, 11]]
    )
    assert all(4 in old and 2 in new for old, new in groups.values())
    block_layers = {path.split("/")[0] for path in groups if path.startswith("block")}
    assert len(block_layers) == 2 * 5  # norm, query, key, value and output of two blocks


@pytest.mark.slow_on_jax
def test_several_kinds_at_once():
    """Groups and heads cut the same kernels along different axes."""
    model = with_random_weights(small_model("hsvit_c2a2"))
    kernels = {"stage0_conv0": [1, 3, 4], "stage1_conv0": [0, 9]}
    slimmed = hsvit_keras.slim(model, groups=[1, 2], heads=[0, 3], kernels=kernels, blocks=["block1_add"])
    one_by_one = hsvit_keras.slim(model, blocks=["block1_add"])
    one_by_one = hsvit_keras.slim(one_by_one, heads={"block1_attention": [0, 3]})
    one_by_one = hsvit_keras.slim(one_by_one, kernels={"stage1_conv0": [0, 9]})
    one_by_one = hsvit_keras.slim(one_by_one, groups=[1, 2])
    one_by_one = hsvit_keras.slim(one_by_one, kernels={"stage0_conv0": [1, 3, 4]})
    assert [w.shape for w in slimmed.weights] == [w.shape for w in one_by_one.weights]
    for weight, other in zip(slimmed.get_weights(), one_by_one.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, other)
    assert slimmed.get_layer("block1_attention_key").kernel.shape == (2, 16, 8)


def test_the_original_is_not_modified():
    model = small_model("hsvit_c2a2")
    before = model.get_weights()
    hsvit_keras.slim(model, groups=2, kernels=0.5)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_without_arguments_it_is_a_copy():
    model = small_model("hsvit_tiny")
    copy = hsvit_keras.slim(model)
    for weight, other in zip(copy.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, other)
