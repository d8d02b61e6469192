"""A slimmed model answers as the original does with the removed parts zeroed, in every family."""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras.compression.rewriting import Graph
from hsvit_keras.layers import performer_attention
from hsvit_keras.models import registry
from tests.models import small
from tests.models.running import ON_JAX, images, outputs
from tests.models.small import MODELS, small_model

READERS = (layers.Dense, layers.EinsumDense, layers.Conv1D, layers.Conv2D)


def with_random_weights(model, seed=0):
    """As if it were trained: no bias is zero, no gain is one."""
    rng = np.random.default_rng(seed)
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([rng.uniform(0.5, 2, weight.shape) for weight in layer.get_weights()])
        else:
            layer.set_weights([weight + rng.normal(0, 0.1, weight.shape) for weight in layer.get_weights()])
    return model


def answers(model, inputs=None):
    return outputs(model, images(model) if inputs is None else inputs)


def assert_equal_answers(model, other):
    expected = answers(other)
    np.testing.assert_allclose(answers(model), expected, rtol=1e-4, atol=2e-5 * np.abs(expected).max())


def some(rng, count):
    """About half of the numbers below `count`, at least one."""
    return sorted(rng.choice(count, max(1, count // 2), replace=False).tolist())


def zero_what_is_read(model, layer, parts, kept):
    """Sets to zero what the next layers with a kernel, behind `layer`, read of its other parts."""
    graph = Graph(model)
    seen, behind = set(), [(reader, np.repeat) for reader in graph.consumers(layer)]
    while behind:
        reader, spread = behind.pop()
        if reader.name in seen:
            continue
        seen.add(reader.name)
        if type(reader) in READERS and reader.kernel.shape[-2] % parts == 0:
            kernel, *bias = reader.get_weights()
            rows = spread(np.arange(parts), kernel.shape[-2] // parts)  # (..., inputs, outputs) in all
            kernel[..., ~np.isin(rows, kept), :] = 0
            reader.set_weights([kernel, *bias])
        else:
            spread = np.tile if isinstance(reader, layers.Flatten) else spread
            behind += [(further, spread) for further in graph.consumers(reader)]


def layers_above(graph, layer):
    sources = {source.name for source in graph.producers(layer)}
    return sources.union(*(layers_above(graph, source) for source in graph.producers(layer)))


def branch(graph, add):
    """Names of the layers between the shortcut and the sum."""
    one, other = graph.producers(add)
    if one.name not in layers_above(graph, other):
        one, other = other, one
    return ({other.name} | layers_above(graph, other)) - layers_above(graph, one) - {one.name}


def zero(model, names):
    for name in names:
        layer = model.get_layer(name)
        layer.set_weights([np.zeros_like(weight) for weight in layer.get_weights()])


def random_choice(parts, seed=0):
    """Half of all heads, units and kernels, and all blocks but every third."""
    rng = np.random.default_rng(seed)
    kept = {
        kind: {name: some(rng, count) for name, count in parts[kind].items()}
        for kind in ("heads", "mlp_units", "kernels")
    }
    return {**kept, "blocks": [name for i, name in enumerate(parts["blocks"]) if i % 3 != 1]}


def zeroed(model, parts, kept):
    """The model with all that `slim` is to remove set to zero."""
    graph = Graph(model)
    for kind in ("heads", "mlp_units", "kernels"):
        for name, numbers in kept[kind].items():
            zero_what_is_read(model, model.get_layer(name), parts[kind][name], numbers)
    for name in set(parts["blocks"]) - set(kept["blocks"]):
        zero(model, branch(graph, model.get_layer(name)))
    return model


def families():
    """The first model of each kind of attention and, but on JAX, of each class; the others are slow."""
    seen = set()
    for name in MODELS:
        _, arguments = small._small(name)
        kinds = {(arguments.get("attention"), "rotary" in arguments)}
        kinds |= set() if ON_JAX else {registry._VARIANTS[name].model_class}
        yield pytest.param(name, marks=pytest.mark.slow if kinds <= seen else ())
        seen |= kinds


@pytest.mark.parametrize("name", list(families()))
def test_every_family(name, monkeypatch):
    """Heads, units, kernels and blocks at once; what is left can be slimmed again."""
    # What is left of removed heads of Performer: a maximum that all share, which cancels but for this.
    monkeypatch.setattr(performer_attention, "_SOFTMAX_EPSILON", 0.0)
    model = with_random_weights(small_model(name))
    parts = hsvit_keras.slimmable_parts(model)
    kept = random_choice(parts)
    slimmed = hsvit_keras.slim(model, **{kind: wish for kind, wish in kept.items() if wish})
    gone = set().union(
        *(branch(Graph(model), model.get_layer(x)) | {x} for x in set(parts["blocks"]) - set(kept["blocks"]))
    )
    assert_equal_answers(slimmed, zeroed(model, parts, kept))
    assert [x.name for x in slimmed.layers] == [x.name for x in model.layers if x.name not in gone]
    assert hsvit_keras.slimmable_parts(slimmed) == {
        "groups": parts["groups"],
        "blocks": kept["blocks"],
        **{
            kind: {layer: len(numbers) for layer, numbers in kept[kind].items() if layer not in gone}
            for kind in ("heads", "mlp_units", "kernels")
        },
    }


def test_groups():
    """Their answers, of the original, averaged over the kept groups alone."""
    model = with_random_weights(small_model("hsvit_c3a4"))
    slimmed = hsvit_keras.slim(model, groups=[3, 1])
    assert hsvit_keras.slimmable_parts(slimmed)["groups"] == 2
    group_answers = keras.Model(model.input, model.get_layer("group_answers").output)
    head = keras.Model(model.get_layer("mean_answer").output, model.output)
    expected = answers(head, answers(group_answers, images(model))[:, [1, 3]].mean(axis=1))
    np.testing.assert_allclose(answers(slimmed), expected, rtol=1e-4, atol=1e-5)
    assert [x.name for x in slimmed.layers] == [x.name for x in model.layers]


def test_groups_go_with_their_kernels():
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
    blocks_of_two = {path.split("/")[0] for path in groups if path.startswith("block")}
    assert len(blocks_of_two) == 2 * 5  # norm, query, key, value and output of each


def test_everything_at_once():
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
    for mine, other in zip(slimmed.get_weights(), one_by_one.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, other)
    assert slimmed.get_layer("block1_attention_key").kernel.shape == (2, 16, 8)


def test_leaves_the_original_alone():
    model = small_model("hsvit_c2a2")
    before = model.get_weights()
    hsvit_keras.slim(model, groups=2, kernels=0.5)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_nothing_asked_is_a_copy():
    model = small_model("hsvit_tiny")
    copy = hsvit_keras.slim(model)
    for mine, other in zip(copy.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, other)
