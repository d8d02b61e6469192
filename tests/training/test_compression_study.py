"""The table over models and chains: what is in it, and that a study goes on."""

import json

import pytest

from hsvit_keras.tasks import task_named
from training.compressing.study import recipe_of, study, table
from training.configs import compress_study_digits, compress_study_fashion_mnist
from training.fitting import building
from training.fitting.building import build_model
from training.recipes.recipe import plain

pytestmark = pytest.mark.once  # JAX trains in test_train, and compresses in test_compress

METRIC = task_named("classification").metric
CONFIGS = compress_study_digits, compress_study_fashion_mnist
SMALL = {"filters": (8,), "pool_strides": (2,), "attention_groups": 2, "depth": 1, "hidden_dim": 8}


def small_config():
    config = compress_study_digits.get_config()
    config.training.update({"image_shape": (8, 8, 1), "batch_size": 200, "augmentation": ()})
    config.training.update({"epochs": 1, "warmup_epochs": 0})
    config.models = {"hsvit_tiny": {"arguments": {**SMALL, "num_heads": 2}, "slim": {"groups": 1}}}
    config.chains = {
        "int8 after training": (("quantize", {"epochs": 0}),),
        "half": (("slim", {"epochs": 0}),),
    }
    return config


@pytest.mark.slow
def test_a_study_has_a_row_for_each_model_and_chain_and_goes_on(tmp_path, monkeypatch, capsys):
    rows = study(small_config(), tmp_path)
    assert [(row["model"], row["chain"]) for row in rows] == [
        ("hsvit_tiny", "original"), ("hsvit_tiny", "half"), ("hsvit_tiny", "int8 after training"),
    ]  # fmt: skip
    original, half, quantized = rows
    assert original["points"] == 0
    assert half["points"] == pytest.approx(100 * (original["accuracy"] - half["accuracy"]), abs=1e-4)
    assert quantized["bytes"] < 0.6 * original["bytes"]
    assert half["multiply_adds"] < original["multiply_adds"]
    names = "last.keras", "half.keras", "int8_after_training.keras"
    assert [row["file"] for row in rows] == [str(tmp_path / "hsvit_tiny" / name) for name in names]
    assert json.loads((tmp_path / "study.json").read_text())["rows"] == rows
    assert table(rows, METRIC) in capsys.readouterr().out
    monkeypatch.setattr(building, "build_model", None)
    assert study(small_config(), tmp_path, models=["hsvit_tiny"]) == rows


def test_the_table_compares_with_the_original():
    base = {"model": "m", "accuracy": 0.9, "points": 0.0, "multiply_adds": 100, "bytes": 400}
    half = {"accuracy": 0.88, "points": 2.0, "multiply_adds": 50, "bytes": 100}
    rows = [{**base, "chain": "original"}, {**base, "chain": "half", **half}]
    *_, line = table(rows, METRIC).splitlines()
    assert line.split() == ["m", "half", "88.00%", "-2.00", "0.50", "0.25"]


def test_a_model_that_is_not_in_the_config_is_named(tmp_path):
    with pytest.raises(ValueError, match="the config has no 'hsvit_tony'; did you mean 'hsvit_tiny'"):
        study(small_config(), tmp_path, models=["hsvit_tony"])


@pytest.mark.slow
@pytest.mark.parametrize("module", CONFIGS)
def test_configs_name_models_that_can_be_made_and_slimmed(module):
    import hsvit_keras

    config = module.get_config()
    for name, entry in config.models.items():
        model = build_model(plain(recipe_of(config, name)), tuple("0123456789"))
        assert model.count_params() < 700_000
        assert hsvit_keras.slim(model, **entry.slim.to_dict()).count_params() < model.count_params()


# Models of other papers, which the five papers compare with.
COMPARED_WITH = {
    "ConvolutionalVisionTransformer",
    "EfficientFormer",
    "EfficientNet",
    "MobileNetV2",
    "MobileViT",
    "MobileViTV2",
    "ResNet",
    "SwiftFormer",
}


def test_the_study_on_digits_has_every_family():
    import hsvit_keras
    from hsvit_keras.models import registry

    studied = {registry._VARIANTS[name].model_class for name in compress_study_digits.get_config().models}
    families = {registry._VARIANTS[name].model_class for name in hsvit_keras.list_models()}
    assert studied == {
        family
        for family in families
        if family.task == "classification" and family.__name__ not in COMPARED_WITH
    }
