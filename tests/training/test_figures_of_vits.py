"""What the figures of HVT, DHVT, the Vision X-formers and scaling measure, against NumPy; how it is drawn."""

import json

import keras
import numpy as np
import pytest

import hsvit_keras
from command_line import plots
from hsvit_runtime.errors import InputError
from tests.training.test_table import DIGITS, write_run
from training.paper_figures import (
    dhvt,
    hvt_figure3,
    scaling,
    scaling_figure3,
    scaling_figure4,
    scaling_figure6,
    scaling_figure8,
    vix,
)
from training.scaling.factors import DEIT
from training.speed.memory import bytes_of_training
from training.tabulating.plan import config_of, plan
from training.visualizing import epochs, inside, paper_figure, points
from training.visualizing.paper_figure import Trained

pytestmark = pytest.mark.once

DHVT = {"patch_size": 2, "hidden_dim": 16, "depth": 2, "num_heads": 2, "mlp_dim": 16, "num_classes": 10}


def measured(name, top1, data="digits", **others):
    return {"row": name, "data": data, "measured": {"top1": {"mean": top1, "spread": None}, **others}}


def lines(axes):
    """Label to (x, y)."""
    return {
        line.get_label(): (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.lines
        if not line.get_label().startswith("_")
    }


# ---- inside of models --------------------------------------------------------------------------------
def test_the_liveliest_channels_come_first():
    maps = np.zeros((2, 2, 3), "float32")
    maps[0, 0] = 1, 3, 2
    np.testing.assert_array_equal(inside.liveliest(maps, 2), maps[..., [1, 2]])


def test_a_pooled_sequence_is_interpolated_and_shown_as_a_map():
    """HVT, Figure 3: 6 tokens of a 2 x 3 map were pooled to 3."""
    pooled = np.array([[0.0, 5.0], [10.0, 5.0], [5.0, 0.0]])
    maps = hvt_figure3.as_map(pooled, (2, 3))
    np.testing.assert_allclose(maps[..., 0].ravel(), [0, 4, 8, 9, 7, 5])
    np.testing.assert_allclose(maps[..., 1].ravel(), [5, 5, 5, 4, 2, 0])
    tokens = np.arange(14.0).reshape(7, 2)
    np.testing.assert_array_equal(hvt_figure3.as_map(tokens, (2, 3)), tokens[1:].reshape(2, 3, 2))
    assert hvt_figure3.as_map(np.zeros((4, 4, 8)), None).shape == (4, 4, 8)


def test_a_cnn_gets_no_stochastic_depth_of_a_recipe():
    table = paper_figure.load_figure("hvt_figure3").table
    rates = [config_of(table, row, DIGITS, {})["model_arguments"] for row in table.rows]
    assert rates == [{}, {"stochastic_depth_rate": 0.1}, {"stochastic_depth_rate": 0.1}]


def test_layers_of_figure_3_are_there():
    for name, layers in hvt_figure3._LAYERS.items():
        with keras.device("cpu"):
            model = hsvit_keras.create_model(
                hvt_figure3._MODELS[name], input_shape=(64, 64, 1), num_classes=2, **_small(name)
            )
        shapes = [model.get_layer(layer).output.shape[1:] for layer in layers.values()]
        assert shapes[0][:2] == ((32, 32) if name == "ResNet-50" else (4, 4))
        assert shapes[1][0] == {"ResNet-50": 4, "DeiT-S": 17, "HVT-S-1": 7}[name]


def _small(name):
    if name == "ResNet-50":
        return {"stem_filters": 4, "filters": (8, 8, 8, 8), "depths": (1, 1, 2, 1)}
    return {"depth": 2, "hidden_dim": 12, "num_heads": 2, "mlp_dim": 12}


def test_attention_of_head_tokens_is_that_of_their_own_head():
    """DHVT: class token, 6 patches in a map of 2 x 3, and a token for each of two heads."""
    weights = np.random.default_rng(0).uniform(size=(1, 2, 9, 9))
    found = dhvt.head_attention(weights, (2, 3))
    assert found.shape == (1, 2, 2, 3)
    np.testing.assert_array_equal(found[0, 0], weights[0, 0, 7, 1:7].reshape(2, 3))
    np.testing.assert_array_equal(found[0, 1], weights[0, 1, 8, 1:7].reshape(2, 3))


def test_a_mosaic_has_each_map_in_its_own_scale():
    found = dhvt.mosaic(np.array([[[0.0, 4.0]], [[3.0, 5.0]], [[2.0, 2.0]]]))
    nothing = np.nan
    expected = [[0, 1, nothing, 0, 1], [nothing] * 5, [0, 0, nothing, nothing, nothing]]
    np.testing.assert_array_equal(found, expected)


def test_attention_of_a_trained_dhvt_is_measured_and_drawn(tmp_path):
    table = paper_figure.load_figure("dhvt_figure3").table
    settings = {"image_shape": (8, 8, 1)}
    (cell,) = plan(table, table.rows, [DIGITS], [0], settings, tmp_path)
    write_run(cell.runs[0], 0.9, 0.99)
    model = hsvit_keras.DHVT(input_shape=(8, 8, 1), mean=0.3, std=0.3, **DHVT)
    model.save(cell.runs[0].path / "best.keras")
    trained = Trained([cell], [DIGITS], [], tmp_path)
    numbers = dhvt.measure_attention(trained, count=2)
    assert numbers["layers"] == [2]  # of two blocks
    assert numbers["attention"].shape == (2, 1, 19, 19)  # 1 + 16 + 2 tokens
    np.testing.assert_allclose(numbers["attention"].sum(-1), 1, rtol=1e-5)

    images = numbers["pictures"].astype("float32")
    names = [f"block1_attention_{part}" for part in ("query", "key")]
    probe = keras.Model(model.input, [model.get_layer(name).output for name in names])
    query, key = (
        keras.ops.convert_to_numpy(x).reshape(2, 19, 2, 8).transpose(0, 2, 1, 3) for x in probe(images)
    )
    weights = np.exp(query @ key.transpose(0, 1, 3, 2) / np.sqrt(8))
    weights /= weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(numbers["attention"][:, 0], weights.mean(1), rtol=1e-4)
    np.testing.assert_allclose(numbers["head_attention"][0, 0, 1].ravel(), weights[0, 1, 18, 1:17], rtol=1e-4)
    with plots.style():
        assert len(dhvt.draw_attention(numbers).axes) == 2 * (1 + 1 + 1)
        assert len(dhvt.draw_attention(numbers, with_heads=False).axes) == 2 * (1 + 1)


# ---- curves of epochs --------------------------------------------------------------------------------
CURVES = [
    {"row": "one", "data": "digits", "epoch": [1, 2, 3], "loss": [3, 2, 1], "accuracy": [10, 20, 30]},
    {"row": "two", "data": "digits", "epoch": [1, 2, 3], "loss": [3, 3, 3], "accuracy": [10, 10, 10]},
]


def test_curves_of_epochs():
    with plots.style():
        figure = epochs.draw({"curves": CURVES}, with_loss=True)
    accuracies, losses = figure.axes
    assert lines(accuracies) == {"one": ([1, 2, 3], [10, 20, 30]), "two": ([1, 2, 3], [10, 10, 10])}
    assert [list(line.get_ydata()) for line in losses.lines] == [[3, 2, 1], [3, 3, 3]]
    assert {line.get_linestyle() for line in losses.lines} == {"--"}


def test_panels_of_rows():
    with plots.style():
        figure = epochs.draw({"curves": CURVES}, panels={"(a)": ["one"], "(b)": ["two", "one"]})
    assert [sorted(lines(axes)) for axes in figure.axes] == [["one"], ["one", "two"]]
    assert [axes.get_title("left") for axes in figure.axes] == ["digits, (a)", "digits, (b)"]


# ---- points ------------------------------------------------------------------------------------------
def test_points_of_a_series_are_joined_by_cost_and_the_frontier_has_the_best():
    found = [("a", 4, 50), ("a", 1, 40), ("b", 2, 30), ("b", 3, 60)]
    panel = [{"series": s, "name": "", "cost": cost, "top1": top1} for s, cost, top1 in found]
    with plots.style():
        (axes,) = points.draw({"title": panel}, "cost", frontier=True).axes
    assert lines(axes) == {"a": ([1, 4], [40, 50]), "b": ([2, 3], [30, 60]), "frontier": ([1, 3], [40, 60])}


def test_without_points_there_is_nothing_to_draw():
    with pytest.raises(InputError, match="no row was trained"):
        points.draw({}, "cost")


def test_points_of_what_was_measured():
    rows = [measured("DeiT-Tiny", 70, multiply_adds=2e9), {**measured("PiT", 0), "measured": None}]
    rows.append(measured("PiT-Scaled-XS", 60, data="cifar10", multiply_adds=1e9))
    assert points.measured({"rows": rows}, scaling.billions, scaling.series) == {
        "here, digits": [{"series": "DeiT", "name": "DeiT-Tiny", "cost": 2.0, "top1": 70}],
        "here, cifar10": [{"series": "PiT-Scaled", "name": "PiT-Scaled-XS", "cost": 1.0, "top1": 60}],
    }


# ---- scaling -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sizes", "printed"), [((12, 3, 64, 4, 224, 16), 1.25), ((12, 6, 64, 4, 224, 16), 4.6)]
)
def test_flops_of_deit(sizes, printed):
    """HVT, Table 1."""
    factors = dict(zip(DEIT.start, sizes, strict=True))
    assert scaling.flops(factors) / 1e9 == pytest.approx(printed, rel=0.005)


def test_points_of_figure_1():
    printed = {
        point["name"]: point for point in paper_figure.load_figure("scaling_figure1").measure(None)["paper"]
    }
    assert printed["DeiT-Scaled-Tiny"] == {
        "series": "DeiT-Scaled", "name": "DeiT-Scaled-Tiny", "cost": 1.22, "top1": 76.4,
    }  # fmt: skip
    assert printed["PiT-Tiny"]["series"] == "PiT" and printed["Swin-T"]["series"] == "other ViTs"
    assert not {"ConvNeXt-T", "DHVT-T", "PiT-Small"} & {*printed}


def test_shapes_of_figure_3_have_as_many_parameters():
    for row in scaling_figure3.get_figure().table.rows:
        parameters = 12 * row.arguments["depth"] * row.arguments["hidden_dim"] ** 2
        assert parameters == pytest.approx(12 * 12 * 384**2, rel=0.04)


def test_permutations_of_figure_4_cost_the_same():
    found = scaling_figure4.permutations()
    assert len(found) == 24 and found == scaling_figure4.permutations()
    costs = [scaling.flops(factors) / 1.205e9 for factors in found]
    assert min(costs) > 0.949 and max(costs) < 1.051
    assert all(factors["image_size"] % factors["patch_size"] == 0 for factors in found)


def test_models_of_figure_6_and_their_accuracies():
    told = {
        one["configuration"]["name"]: one["row"].printed("imagenet")[0] for one in scaling_figure6.models()
    }
    assert told == {
        "deit_tiny": 74.5, "deit_small": 81.2, "deit_scaled_tiny": 76.4, "deit_scaled_small": 81.6,
        "deit_scaled_v100": 78.1, "deit_scaled_tx2_d6": 74.0, "deit_scaled_tx2_d10": 78.2,
        "deit_scaled_pixel3_e108": 74.8, "deit_scaled_pixel3_e142": 77.5,
    }  # fmt: skip


class _Cost:
    """A cost that needs no model; `arm_instructions` cannot be measured."""

    def __init__(self, name, folder=None, *, preset="float32"):
        self._name, self._power = name, {"float32": 1, "dynamic": -1}[preset]

    def __call__(self, configuration):
        if self._name == "arm_instructions":
            raise InputError("needs qemu")
        return 1e9 * (configuration.get("hidden_dim") or len(configuration["name"])) ** self._power


def test_costs_that_cannot_be_measured_are_left_out_and_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("training.scaling.costs.Cost", _Cost)
    trained = Trained([], [], [], tmp_path)
    for module in (scaling_figure6, scaling_figure8):
        numbers = module.get_figure().measure(trained)
        assert list(numbers["left_out"].values()) == ["needs qemu"]
        json.dumps(numbers)
        with plots.style():
            module.get_figure().draw({**numbers, "rows": []})
    assert capsys.readouterr().out.count("left out: Cortex-A76") == 2
    assert numbers["kendall"]["LiteRT, float32"]["LiteRT, dynamic"] == pytest.approx(-1)


def test_models_of_figure_8_are_small_enough():
    found = scaling_figure8.models()
    assert len(found) == 12 and len({tuple(factors.values()) for factors in found}) == 12
    assert max(map(scaling.flops, found)) <= 1e9


# ---- memory ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("Vision Transformer (ViT)", "ViT"),
        ("Hybrid Vision Transformer (ViT)", "hybrid ViT"),
        ("Vision Linformer (ViL)", "ViX"),
        ("Hybrid Vision Nyströmformer (ViN)", "hybrid ViX"),
        ("MLP Mixer", "other mixing"),
    ],
)
def test_series_of_the_x_formers(name, series):
    assert vix.series(name) == series


def test_accuracy_is_drawn_over_memory_and_parameters():
    rows = [measured("Vision Performer (ViP)", 58.0, parameters=531_978)]
    numbers = {
        "paper": [{"row": "Vision Performer (ViP)", "gigabytes": 5.0, "parameters": "", "top1": 58.23}],
        "memory": [{"row": "Vision Performer (ViP)", "data": "digits", "bytes": 2.5e9}],
        "rows": rows,
    }
    with plots.style():
        paper, memory, parameters = vix.draw_memory(numbers).axes
    assert lines(paper) == {"ViX": ([5.0], [58.23])} and lines(memory) == {"ViX": ([2.5], [58.0])}
    assert lines(parameters) == {"ViX": ([531.978], [58.0])}


@pytest.mark.exhaustive
def test_memory_of_training():
    """At least weights, two moments and the attention weights of all images; it grows with the batch."""
    arguments = {"depth": 1, "hidden_dim": 16, "num_heads": 2, "head_dim": 8, "mlp_dim": 16}
    small, large = (bytes_of_training("vit", arguments, (16, 16, 1), count) for count in (2, 8))
    weights = 2 * 257**2 * 4  # of an image: heads, tokens, tokens, bytes
    assert large - small > 6 * weights
    assert large - small < 6 * 60 * weights
    with pytest.raises(InputError, match=r"the memory of vit cannot be measured: .*depth"):
        bytes_of_training("vit", {"depth": 0}, (16, 16, 1), 2)
