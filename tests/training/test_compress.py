"""A whole chain on real digits: what it leaves, that it goes on where it was killed, and what it refuses."""

import copy
import json
import shutil

import keras
import numpy as np
import pytest

import hsvit_keras
from data_sets import load_dataset
from hsvit_keras.compression.quantization import is_quantized
from hsvit_keras.compression.sparsity import sparsity_report
from hsvit_keras.layers.model_description import description_of
from tests.training.breaking import broken_off
from training.compressing.compression import compress
from training.configs import compress_base
from training.fitting import fit
from training.fitting.data import Data

SMALL = {
    "filters": (8,), "pool_strides": (2,), "attention_groups": 2, "depth": 1, "hidden_dim": 8, "num_heads": 2,
}  # fmt: skip
STEPS = (
    ("slim", {"groups": 1, "epochs": 1, "learning_rate": 3e-3}),
    ("prune", {"sparsity": 0.5, "epochs": 2}),
    ("quantize", {"epochs": 1, "images": 100}),
)


def config(*steps, **settings):
    made = compress_base.get_config()
    made.steps, made.batch_size = steps or STEPS, 200
    for name, value in settings.items():
        made[name] = value
    return made


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with a model that was not trained."""
    folder = tmp_path_factory.mktemp("run")
    keras.utils.set_random_seed(0)
    model = hsvit_keras.create_model(
        "hsvit_tiny", input_shape=(8, 8, 1), mean=0.3, std=0.3, class_names=tuple("0123456789"),
        data_set="digits", **SMALL,
    )  # fmt: skip
    model.save(folder / "best.keras")
    return folder


@pytest.fixture(scope="module")
def done(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compressed")
    before = (run / "best.keras").read_bytes()
    rows = compress(run / "best.keras", folder / "small.keras", config())
    assert (run / "best.keras").read_bytes() == before
    return folder, rows


def outputs(path):
    model = keras.models.load_model(path)
    return model.predict_on_batch(np.random.default_rng(0).normal(size=(4, 8, 8, 1)).astype("float32"))


@pytest.mark.once
@pytest.mark.parametrize(
    "steps, words",
    [
        (
            [("slim", {"groups": 2})],
            "step 'slim' removes nothing: hsvit_tiny has no more parts than groups=2 keeps",
        ),
        ([("slim", {"heads": 1.0, "groups": 1.0})], "step 'slim' removes nothing"),
        ([("slim", {"groups": 1}), ("finetune", {}), ("slim", {"groups": 1})], "the model has no groups"),
    ],
)
def test_a_step_that_removes_nothing_is_named_before_anything_is_done(run, tmp_path, steps, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        compress(run / "best.keras", tmp_path / "small.keras", config(*steps), data_dir="nowhere")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_a_chain_leaves_a_model_a_table_and_a_run_for_each_step(done):
    folder, rows = done
    assert {path.name for path in folder.iterdir()} == {
        "small.keras", "small.compress.json", "small.steps",
    }  # fmt: skip
    assert sorted(path.name for path in (folder / "small.steps").iterdir()) == [
        "1_slim", "2_prune", "3_quantize",
    ]  # fmt: skip
    report = json.loads((folder / "small.compress.json").read_text())
    assert report["steps"] == rows
    assert report["backend"] == keras.backend.backend()
    assert [row["step"] for row in rows] == [
        "original",
        "slim groups=1",
        "prune sparsity=0.5",
        "quantize images=100",
    ]


@pytest.mark.slow
@pytest.mark.once
def test_each_row_tells_what_its_step_did(done):
    original, slimmed, pruned, quantized = done[1]
    assert slimmed["parameters"] < original["parameters"]
    assert slimmed["multiply_adds"] < original["multiply_adds"]
    assert (original["sparsity"], slimmed["sparsity"]) == (0, 0)
    assert pruned["parameters"] == slimmed["parameters"]
    assert pruned["sparsity"] == pytest.approx(0.5, abs=0.01)
    assert pruned["zipped_bytes"] < 0.8 * slimmed["zipped_bytes"]
    assert quantized["bytes"] < 0.6 * pruned["bytes"]
    assert quantized["sparsity"] >= pruned["sparsity"] - 0.01  # training on kept the zeros
    assert quantized["multiply_adds"] == pruned["multiply_adds"]


@pytest.mark.slow
@pytest.mark.once
def test_the_result_is_a_plain_quantized_model(done):
    folder, rows = done
    model = keras.models.load_model(folder / "small.keras")
    assert not model.compiled
    assert is_quantized(model)
    assert model.get_layer("block0_attention_query").kernel.shape[0] == 1  # groups
    assert sparsity_report(model)["sparsity"] == rows[-1]["sparsity"]
    description = description_of(model)
    assert (description.data_set, description.input_range) == ("digits", (0, 255))
    assert description.class_names == tuple("0123456789")
    data = Data(json.loads((folder / "small.steps/1_slim/config.json").read_text()))
    labels = np.concatenate([labels for _, labels in data.test()]).argmax(1)
    logits = np.concatenate([model.predict_on_batch(images) for images, _ in data.test()])
    assert (logits.argmax(1) == labels).mean() == pytest.approx(rows[-1]["accuracy"], abs=1e-6)


@pytest.mark.slow
@pytest.mark.once
def test_a_chain_that_was_killed_goes_on_after_the_last_epoch_to_the_same_end(run, done, tmp_path, capsys):
    whole, rows = done[0], copy.deepcopy(done[1])
    shutil.copytree(whole / "small.steps/1_slim", tmp_path / "small.steps/1_slim")
    with broken_off():
        compress(run / "best.keras", tmp_path / "small.keras", config(*STEPS[:2]))
    assert not (tmp_path / "small.keras").exists()
    assert not (tmp_path / "small.steps/2_prune/model.keras").exists()
    again = compress(run / "best.keras", tmp_path / "small.keras", config(*STEPS[:2]))
    said = capsys.readouterr().out
    assert "1_slim holds this step, finished" in said
    assert "going on after epoch 1 of 2" in said
    del again[2]["seconds"], rows[2]["seconds"]
    assert again == rows[:3]
    unbroken = whole / "small.steps/2_prune/model.keras"
    np.testing.assert_array_equal(outputs(tmp_path / "small.keras"), outputs(unbroken))


@pytest.mark.slow
@pytest.mark.once
def test_a_finished_chain_does_nothing_again_and_another_one_is_refused(run, done, monkeypatch):
    folder, rows = done
    monkeypatch.setattr(fit, "fit", None)
    assert compress(run / "best.keras", folder / "small.keras", config()) == rows
    other = config(STEPS[0], ("prune", {"sparsity": 0.6, "epochs": 2}), STEPS[2])
    with pytest.raises(
        ValueError, match=r"2_prune holds another step: arguments\.sparsity was 0\.5 and is 0\.6"
    ):
        compress(run / "best.keras", folder / "small.keras", other)


@pytest.mark.once
def test_steps_without_training(run, tmp_path):
    steps = ("slim", {"groups": [1], "epochs": 0}), ("quantize", {"epochs": 0})
    rows = compress(run / "best.keras", tmp_path / "small.keras", config(*steps))
    expected = hsvit_keras.slim(keras.models.load_model(run / "best.keras"), groups=[1])
    images = np.random.default_rng(0).normal(size=(4, 8, 8, 1)).astype("float32")
    slimmed = keras.models.load_model(tmp_path / "small.steps/1_slim/model.keras")
    np.testing.assert_allclose(slimmed.predict_on_batch(images), expected.predict_on_batch(images), atol=1e-6)
    assert is_quantized(keras.models.load_model(tmp_path / "small.keras"))
    assert [row.get("seconds") for row in rows] == [None, 0, 0]


@pytest.mark.once
@pytest.mark.parametrize(
    "output, words",
    [("small.tflite", r"output.s name has to end in \.keras"), ("no/small.keras", "there is no folder")],
)
def test_an_output_that_cannot_be_is_refused(run, tmp_path, output, words):
    with pytest.raises((ValueError, OSError), match=words):
        compress(run / "best.keras", tmp_path / output, config())


@pytest.mark.once
def test_a_model_for_another_task_is_refused(run, tmp_path):
    with pytest.raises(
        ValueError, match="a model for classification, and the data set digits_segmentation is"
    ):
        compress(run / "best.keras", tmp_path / "small.keras", config(data="digits_segmentation"))
    assert not list(tmp_path.iterdir())


@pytest.mark.once
def test_a_model_of_somebody_else_is_compressed_in_its_own_range(tmp_path):
    keras.utils.set_random_seed(0)
    image = keras.Input((8, 8, 1))
    keras.Model(image, keras.layers.Dense(10)(keras.layers.Flatten()(image))).save(tmp_path / "other.keras")
    settings = {"data": "digits", "input_range": (-1.0, 1.0)}
    original, _ = compress(
        tmp_path / "other.keras", tmp_path / "small.keras", config(("quantize", {"epochs": 0}), **settings)
    )
    digits = load_dataset("digits", "test")
    model = keras.models.load_model(tmp_path / "other.keras")
    logits = model.predict_on_batch(digits.images.astype("float32") / 127.5 - 1)
    assert original["accuracy"] == pytest.approx((logits.argmax(1) == digits.labels).mean(), abs=1e-6)
    with pytest.raises(ValueError, match=r"does not say its data set: name it by --config\.data"):
        compress(tmp_path / "other.keras", tmp_path / "small.keras", config())


@pytest.mark.once
def test_a_missing_teacher_is_named_before_any_step(run, tmp_path):
    steps = STEPS[0], ("finetune", {"teachers": "big.keras"})
    with pytest.raises(FileNotFoundError, match=r"step 'finetune': there is no teacher big\.keras"):
        compress(run / "best.keras", tmp_path / "small.keras", config(*steps))
    assert not list(tmp_path.iterdir())
