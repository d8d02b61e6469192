"""A whole search: what it asks, what it leaves, and that it goes on where it was killed."""

import json
import runpy
import shutil

import pytest

import hsvit_keras
from training.configs import scaling_digits, scaling_digits_hsvit, scaling_digits_throughput
from training.scaling import search as searching
from training.scaling.search import search

pytestmark = pytest.mark.once


CONFIGURATION_OF_START = {
    "input_shape": [8, 8, 1], "num_classes": 10, "name": "deit_tiny", "patch_size": 4, "hidden_dim": 8,
    "depth": 1, "num_heads": 1, "mlp_dim": 8,
}  # fmt: skip


def small_config(**changes):
    config = scaling_digits.get_config()
    config.training.update({"batch_size": 200, "epochs": 2, "augmentation": (), "warmup_epochs": 0})
    config.start = {
        "depth": 1, "num_heads": 1, "head_dim": 8, "mlp_ratio": 1, "image_size": 8, "patch_size": 4,
    }  # fmt: skip
    config.factor_values = {"depth": (1, 2, 3, 4), "head_dim": (), "patch_size": (), "image_size": (8,)}
    config.cost = {"name": "multiply_adds"}
    config.targets = {"growth": 1.5, "steps": 2}
    config.tolerance = 1.0
    config.permutation.update({"candidates": 0, "tolerance": 0.4})
    config.references = ("deit_tiny",)
    with config.unlocked():
        for key, value in changes.items():
            config[key] = value
    return config


class Formula:
    """Trials whose accuracy is the depth, less a little for a later seed."""

    asked = ()

    def __init__(self, workdir, **_):
        workdir.mkdir(exist_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __call__(self, configs, facts):
        Formula.asked = (*Formula.asked, *zip(configs, facts, strict=True))
        return [
            {"val_accuracy": (values["model_arguments"].get("depth", 50) - values["seed"]) / 100}
            for values in configs
        ]


@pytest.fixture(scope="module")
def known_costs(tmp_path_factory):
    """A file of the costs that tests of this module have counted."""
    return tmp_path_factory.mktemp("costs") / "costs.jsonl"


@pytest.fixture
def by_formula(monkeypatch, tmp_path, known_costs):
    """Searches in `tmp_path` without trainings; each cost is counted once in all tests."""
    monkeypatch.setattr(searching, "Trials", Formula)
    monkeypatch.setattr(Formula, "asked", ())
    if known_costs.is_file():
        shutil.copy(known_costs, tmp_path)
    yield
    if (tmp_path / known_costs.name).is_file():
        shutil.copy(tmp_path / known_costs.name, known_costs)


@pytest.fixture
def without_picture(monkeypatch):
    monkeypatch.setattr(searching.plots, "draw", lambda *_: None)


@pytest.mark.slow
def test_a_search_leaves_its_files(tmp_path, by_formula, capsys):
    config = small_config()
    config.permutation.candidates = 2
    found = search(config, tmp_path)
    assert json.loads((tmp_path / "search.json").read_text()) == found
    assert found["unit"] == "multiply-adds" and found["metric"]["name"] == "accuracy"
    assert found["validation"] == {"part": "train, 10 %, seed 0", "images": 144}
    assert [step["chosen"]["factor"] for step in found["steps"]] == ["depth", "depth"]
    first, second = found["steps"]
    assert (
        first["target"] == 1.5 * first["start"]["cost"] and second["start"]["cost"] == first["chosen"]["cost"]
    )
    assert second["start"]["score"] == first["chosen"]["score"]
    assert (tmp_path / "frontier.png").read_bytes().startswith(b"\x89PNG")
    variants = runpy.run_path(tmp_path / "chosen.py")["VARIANTS"]
    assert list(variants) == ["step1", "step2", "permuted"]
    for name, step in zip(variants, found["steps"], strict=False):
        assert hsvit_keras.create_model(**variants[name]).depth == step["chosen"]["factors"]["depth"]
    assert found["references"]["deit_tiny"]["score"] == 0.5
    said = capsys.readouterr().out
    assert "* depth 2 " in said and "step 2: from depth 2" in said and "deit_tiny" in said


@pytest.mark.slow
def test_trials_have_the_recipe_and_tell_what_they_are_for(tmp_path, by_formula, without_picture):
    search(small_config(), tmp_path)
    values, facts = Formula.asked[0]
    assert (values["model"], values["image_shape"], values["epochs"]) == ("deit_tiny", [8, 8, 1], 2)
    assert values["model_arguments"] == {
        "patch_size": 4, "hidden_dim": 8, "depth": 1, "num_heads": 1, "mlp_dim": 8,
    }  # fmt: skip
    assert facts["factors"]["depth"] == 1 and facts["unit"] == "multiply-adds"
    costs = [json.loads(line) for line in (tmp_path / "costs.jsonl").read_text().splitlines()]
    (start,) = [row["value"] for row in costs if row["configuration"] == CONFIGURATION_OF_START]
    assert facts["cost"] == start
    assert len({json.dumps(row["configuration"], sort_keys=True) for row in costs}) == len(costs)


@pytest.mark.slow
def test_scores_are_means_over_the_seeds(tmp_path, by_formula, without_picture):
    found = search(small_config(seeds=(0, 2)), tmp_path)
    assert found["steps"][0]["start"]["score"] == pytest.approx((0.01 - 0.01) / 2)
    assert {values["seed"] for values, _ in Formula.asked} == {0, 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    "targets, expected",
    [({"costs": (3000, 5000)}, [3000, 5000]), ({"of": "hsvit_tiny", "shares": (1 / 64, 1 / 32)}, None)],
)
def test_targets_may_be_costs_or_shares_of_a_models(tmp_path, by_formula, without_picture, targets, expected):
    found = search(small_config(targets=targets, tolerance=10.0), tmp_path)
    if expected is None:
        from training.scaling.costs import Cost

        whole = Cost("multiply_adds")({"name": "hsvit_tiny", "input_shape": [32, 32, 1], "num_classes": 10})
        expected = [whole / 64, whole / 32]
    assert [step["target"] for step in found["steps"]] == pytest.approx(expected)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"familly": "pit"}, "the config has an unknown key 'familly'; did you mean 'family'"),
        ({"family": "pat"}, "config.family has to be one of deit, pit, hsvit; received 'pat'"),
        (
            {"targets": {"growth": 2.0, "costs": (1,)}},
            "config.targets has to have growth and steps, or of and",
        ),
        ({"cost": {"name": "flops"}}, "there is no cost 'flops'"),
        ({"start": {"dept": 2}}, "there is no factor 'dept'"),
    ],
)
def test_a_wrong_config_is_named(tmp_path, by_formula, changes, message):
    with pytest.raises(ValueError, match=message):
        search(small_config(**changes), tmp_path)


def test_a_missing_key_is_named(tmp_path, by_formula):
    config = small_config()
    del config.seeds
    with pytest.raises(ValueError, match="the config has no 'seeds'"):
        search(config, tmp_path)


@pytest.mark.parametrize("module", [scaling_digits, scaling_digits_hsvit, scaling_digits_throughput])
def test_the_configs_start_from_a_model(module):
    from training.scaling.factors import FAMILIES
    from training.scaling.settings import plain_search

    config = module.get_config()
    plain_search(config)
    family = FAMILIES[config.family].changed(config.start, config.factor_values)
    assert all(family.scaled_up(family.start, name) for name in family.values)
    model = hsvit_keras.create_model(**family.configuration(family.start, 1, 10))
    assert model.output_shape == (None, 10)


@pytest.mark.slow
def test_a_search_with_real_trials_goes_on_where_it_was_killed(tmp_path):
    config = small_config(targets={"growth": 1.5, "steps": 1}, references=())
    found = search(config, tmp_path)
    accuracies = [one["score"] for one in found["steps"][0]["candidates"]]
    assert all(0 < accuracy < 1 for accuracy in accuracies)
    lines = (tmp_path / "trials.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) == 1 + len(accuracies)
    # Killed before it had written that the last trial ended.
    (tmp_path / "trials.jsonl").write_text("".join(lines[:-1]) + lines[-1][:20])
    again = search(config, tmp_path)
    assert again == found
    rows = [json.loads(line) for line in (tmp_path / "trials.jsonl").read_text().splitlines()]
    assert len({row["trial"] for row in rows}) == len(rows) == len(lines)
