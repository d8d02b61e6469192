"""Accuracy with some of the groups, against the Keras parts."""

import dataclasses
import itertools
import json

import numpy as np
import pytest

from data_sets import load_dataset, sample_images
from export import subsets as subsets_command
from export.serving import manifest, subsets
from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call

pytestmark = [pytest.mark.tensorflow, pytest.mark.once]
SAMPLES = 60


@pytest.fixture(scope="module")
def model(sharded):
    return manifest.read(sharded.manifest)


@pytest.fixture(scope="module")
def test_part():
    return load_dataset("digits", "test")


@pytest.mark.slow
def test_accuracies_are_those_of_the_keras_parts(model, sharded, test_part):
    images, labels = sample_images(test_part, SAMPLES, image_shape=(16, 16, 1))
    tokens = np.concatenate([part(images) for part in sharded.parts], axis=1)
    rows = subsets.compare([model], test_part, SAMPLES)
    assert [(row["groups"], row["subsets"]) for row in rows] == [(4, 1), (3, 4), (2, 6), (1, 4)]
    for row in rows:
        expected = [
            np.mean(np.argmax(sharded.head(tokens[:, chosen]), axis=-1) == labels)
            for chosen in map(list, itertools.combinations(range(4), row["groups"]))
        ]
        (found,) = row["accuracies"]
        np.testing.assert_allclose(
            [found["mean"], found["min"], found["max"]],
            [np.mean(expected), np.min(expected), np.max(expected)],
        )


def test_shards_in_any_order(model, test_part):
    shuffled = dataclasses.replace(model, groups=model.groups[::-1], shards=model.shards[::-1])
    first, second = (subsets.compare([one], test_part, 10) for one in (model, shuffled))
    assert first == second


def test_subsets_are_different_and_the_same_for_each_seed():
    chosen = subsets.choose(16, 5, draws=40, seed=3)
    assert len({tuple(subset) for subset in chosen}) == 40
    assert all(len(set(subset)) == 5 and set(subset) <= set(range(16)) for subset in chosen)
    assert chosen == subsets.choose(16, 5, draws=40, seed=3) != subsets.choose(16, 5, draws=40, seed=4)
    assert subsets.choose(3, 2, draws=3, seed=0) == [[0, 1], [0, 2], [1, 2]]


def test_models_that_do_not_compare(model, test_part):
    with pytest.raises(InputError, match=r"same number of groups, they have \[4, 8\]"):
        subsets.compare([model, dataclasses.replace(model, num_groups=8)], test_part)
    other = dataclasses.replace(model, class_names=("a", "b"))
    with pytest.raises(InputError, match="hsvit_tiny has other classes than digits: a, b"):
        subsets.compare([other], test_part)


def test_a_manifest_that_names_no_data_set(sharded, tmp_path):
    for file in sharded.manifest.parent.iterdir():
        (tmp_path / file.name).symlink_to(file)
    content = {**json.loads(sharded.manifest.read_text()), "data_set": None, "class_names": None}
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    options = [f"--manifests={tmp_path}/manifest.json", f"--output={tmp_path}/subsets.json", "--samples=10"]
    with pytest.raises(InputError, match="the model does not say its data set: name it by --data"):
        call(subsets_command, *options)
    call(subsets_command, *options, "--data=digits")
    assert json.loads((tmp_path / "subsets.json").read_text())["data"] == "digits"


def test_command(sharded, tmp_path, capsys):
    options = [f"--manifests={sharded.manifest},{sharded.manifest}", "--samples=20", "--draws=2"]
    call(subsets_command, *options, f"--output={tmp_path / 'subsets.json'}")
    report = json.loads((tmp_path / "subsets.json").read_text())
    assert (report["data"], report["samples"]) == ("digits", 20)
    assert [row["subsets"] for row in report["rows"]] == [1, 2, 2, 2]
    assert report["rows"][1]["accuracies"][0] == report["rows"][1]["accuracies"][1]
    first, second, titles, *rows, _ = capsys.readouterr().out.splitlines()
    assert (first, second) == (f"(1) {sharded.manifest}", f"(2) {sharded.manifest}")
    assert titles.split() == ["groups", "subsets", "(1)", "(2)"]
    assert len(rows) == 4
