"""Training learns, repeats itself bit for bit, goes on after a kill and stops at NaN."""

import contextlib
import io
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import keras
import numpy as np
import pytest
from PIL import Image

import hsvit_keras
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import FileError, InputError
from tests.data_sets.making import write_class_folder
from tests.training.breaking import broken_off
from training.configs import digits, folder
from training.fitting import data as fitting_data
from training.fitting import fit
from training.fitting.augmentation import Augmentation
from training.fitting.building import FloatCopy
from training.fitting.data import Data
from training.fitting.run import _is_slower_than_needed, train
from training.recipes import recipe
from training.run_files import machine

ROOT = pathlib.Path(__file__).parents[2]
DISTILLATION = digits.get_config().distillation.to_dict()
STEPS = 6  # 1,298 images in batches of 200: 144 of the 1,442 are to validate on
TIMES = ("images_per_second", "seconds")
SMALL = {
    "model_arguments": {
        "filters": (8,),
        "pool_strides": (2,),
        "attention_groups": 2,
        "depth": 1,
        "hidden_dim": 8,
        "num_heads": 2,
        "dropout_rate": 0.2,
    },
    "image_shape": (8, 8, 1),
    "augmentation": (("RandomTranslation", {"height_factor": 0.1, "width_factor": 0.1}),),
    "batch_size": 200,
    "epochs": 3,
}


def small_config(**changes):
    """A model of one small stage on digits of 8 x 8 pixels."""
    config = digits.get_config()
    for key, value in {**SMALL, **changes}.items():
        config[key] = value
    return config


def metrics(workdir):
    """The lines of metrics.jsonl without times."""
    rows = [json.loads(line) for line in (workdir / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in row.items() if key not in TIMES} for row in rows]


def state(workdir):
    """All variables of last.keras: weights and optimizer."""
    model = keras.models.load_model(workdir / "last.keras")
    return [np.array(v) for v in (*model.variables, *model.optimizer.variables) if "seed" not in v.name]


def assert_same_run(one, other):
    assert metrics(one) == metrics(other)
    pairs = list(zip(state(one), state(other), strict=True))
    assert len(pairs) > 40
    for ours, theirs in pairs:
        np.testing.assert_array_equal(ours, theirs)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    workdir = tmp_path_factory.mktemp("unbroken run")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        train(small_config(), workdir)
    (workdir / "said").write_text(said.getvalue())
    return workdir


def accuracy_and_loss(logits, labels):
    """(accuracy, cross-entropy) of logits, in plain NumPy."""
    logits = np.asarray(logits, "float64")
    losses = np.log(np.exp(logits).sum(1)) - logits[np.arange(len(labels)), labels]
    return (logits.argmax(1) == labels).mean(), losses.mean()


def test_a_run_leaves_its_files(unbroken):
    assert {path.name for path in unbroken.iterdir()} == {
        "best.keras", "last.keras", "metrics.jsonl", "tensorboard", "curves.png", "samples.png",
        "config.json", "run.json", "summary.json", "said",
    }  # fmt: skip
    assert json.loads((unbroken / "config.json").read_text())["batch_size"] == 200
    assert (unbroken / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((unbroken / "tensorboard").glob("events.out.tfevents.*"))) == 1


def test_metrics_have_a_line_for_each_epoch(unbroken):
    rows = [json.loads(line) for line in (unbroken / "metrics.jsonl").read_text().splitlines()]
    assert [(row["epoch"], row["step"]) for row in rows] == [(1, STEPS), (2, 2 * STEPS), (3, 3 * STEPS)]
    assert set(rows[0]) == {
        "epoch", "step", "loss", "accuracy", "val_loss", "val_accuracy", "learning_rate", "images_per_second",
        "seconds",
    }  # fmt: skip
    assert rows[-1]["loss"] < rows[0]["loss"] < 3.5
    assert all(row["images_per_second"] > 0 and row["seconds"] > 0 for row in rows)
    # The cosine at one third, two thirds and the end of its way from 0.003 to 0.
    rates = [row["learning_rate"] for row in rows]
    np.testing.assert_allclose(rates, 0.003 * (1 + np.cos(np.pi * np.array([1, 2, 3]) / 3)) / 2, atol=1e-9)


def test_the_summary_tells_what_was_measured_and_where(unbroken):
    summary = json.loads((unbroken / "summary.json").read_text())
    rows = [json.loads(line) for line in (unbroken / "metrics.jsonl").read_text().splitlines()]
    assert summary["last"] == rows[-1]
    assert summary["best"] == max(rows, key=lambda row: (row["val_accuracy"], -row["val_loss"]))
    assert summary["images"] == {"train": 1298, "validation": 144, "test": 355}
    assert summary["validation"] == {"part": "train, 10 %, seed 0", "metric": "accuracy"}
    assert (
        set(summary["test"]) == {"samples", "loss", "accuracy", "top5_accuracy"}
        and summary["test"]["samples"] == 355
    )
    assert summary["images_seen"] == 3 * STEPS * 200
    assert summary["layers"] == {"convolutions": 2, "attentions": 1} and summary["multiply_adds"] > 0
    assert summary["test"]["accuracy"] <= summary["test"]["top5_accuracy"] <= 1
    assert summary["backend"] == keras.backend.backend()
    assert summary["versions"]["keras"] == keras.__version__
    assert summary["machine"]["cores"] >= 1


def test_what_is_printed_says_which_number_is_of_which_part(unbroken):
    summary = json.loads((unbroken / "summary.json").read_text())
    first, *_, last = (unbroken / "said").read_text().splitlines()
    assert f"({summary['parameters']:,} parameters)" in first
    assert "1,298 images to train on, 144 to validate on (train, 10 %, seed 0), 355 to test on" in first
    best, test = summary["best"], summary["test"]
    validated, tested = best["val_accuracy"], test["accuracy"]
    assert last.startswith(
        f"best epoch {best['epoch']}: accuracy {validated:.2%} on validation (train, 10 %, seed 0), "
        f"{tested:.2%} on the test part"
    )


@pytest.mark.parametrize(
    "dtype, has_amx, hinted",
    [("float32", True, True), ("float32", False, False), ("mixed_bfloat16", True, False)],
)
def test_half_precision_is_recommended_where_it_is_faster(monkeypatch, dtype, has_amx, hinted):
    monkeypatch.setattr(machine, "multiplies_bfloat16", lambda: has_amx)
    assert _is_slower_than_needed(dtype) == (hinted and machine.on_cpu())


def test_parameters_are_the_trainable_ones(unbroken):
    """What the paper counts: without the statistics of the batch normalization."""
    summary = json.loads((unbroken / "summary.json").read_text())
    variables = keras.models.load_model(unbroken / "best.keras").weights
    statistics = sum(np.size(variable) for variable in variables if "moving_" in variable.path)
    assert statistics == summary["non_trainable_parameters"] > 0
    assert summary["parameters"] == sum(np.size(variable) for variable in variables) - statistics


@pytest.mark.slow_on_jax
def test_the_best_model_has_the_numbers_on_record(unbroken):
    """On the test part from the raw digits, without the pipeline and without Keras' loss and metric."""
    from sklearn.datasets import load_digits

    all_digits = load_digits()
    in_test = np.zeros(len(all_digits.target), bool)
    for digit in range(10):
        in_test[np.flatnonzero(all_digits.target == digit)[4::5]] = True
    pixels = np.round(all_digits.images * 255 / 16).astype("float32")[..., None]
    model = keras.models.load_model(unbroken / "best.keras")
    summary = json.loads((unbroken / "summary.json").read_text())
    accuracy, loss = accuracy_and_loss(model(pixels[in_test]), all_digits.target[in_test])
    assert summary["test"]["accuracy"] == pytest.approx(accuracy, abs=1e-6)
    assert summary["test"]["loss"] == pytest.approx(loss, rel=1e-4)

    data = Data(recipe.plain(small_config()))
    accuracy, loss = accuracy_and_loss(
        model(data.validation_set.images.astype("float32")), data.validation_set.labels
    )
    assert summary["best"]["val_accuracy"] == pytest.approx(accuracy, abs=1e-6)
    assert summary["best"]["val_loss"] == pytest.approx(loss, rel=1e-4)


def test_training_and_validation_have_no_image_in_common():
    """Both are of the training part, in which no digit comes twice."""
    data = Data(recipe.plain(small_config()))
    train_set, validation_set = (
        {image.tobytes() for image in part.images} for part in (data.train_set, data.validation_set)
    )
    assert not train_set & validation_set
    assert np.abs(np.bincount(data.validation_set.labels) - 14.4).max() < 1


def test_few_images_are_the_same_for_every_seed():
    one, other = (
        Data(recipe.plain(small_config(train_images=250, seed=seed, batch_size=50))) for seed in (0, 1)
    )
    assert len(one.train_set) == 225 and len(one.validation_set) == 25 and len(one.test_set) == 355
    assert {image.tobytes() for image in one.train_set.images} == {
        image.tobytes() for image in other.train_set.images
    }
    with pytest.raises(InputError, match=r"config\.train_images=1443 is more than the 1442 of digits"):
        Data(recipe.plain(small_config(train_images=1443)))


def test_images_are_resized_as_the_model_asks_for():
    """Twice as large, and the centre of that; training and evaluation alike."""
    data = Data(recipe.plain(small_config()), resizing={"filter": "nearest", "size": 16})
    large = data.test_set.images.repeat(2, axis=1).repeat(2, axis=2)
    images, _ = next(iter(data.test()))
    np.testing.assert_array_equal(images, large[: len(images), 4:12, 4:12])
    ((sampled, _),) = data.sample(10)
    known = {image.tobytes() for image in data.train_set.images}
    assert (
        sampled.shape == (10, 8, 8, 1) and not {image.astype("uint8").tobytes() for image in sampled} & known
    )


def test_the_model_carries_its_data(unbroken):
    description = description_of(keras.models.load_model(unbroken / "best.keras"))
    assert (description.task, description.data_set) == ("classification", "digits")
    assert description.class_names == tuple("0123456789")
    assert description.input_range == (0, 255)


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_the_papers_way_chooses_on_the_test_part_and_says_so(tmp_path, capsys):
    summary = train(small_config(validation="test", epochs=1), tmp_path)
    said = capsys.readouterr().out
    assert "1,442 images to train on, 355 to test on" in said
    assert "best epoch chosen on the test part, as the papers do: 1, accuracy" in said
    assert summary["validation"]["part"] == "test"
    assert summary["images"] == {"train": 1442, "validation": 355, "test": 355}
    assert summary["test"]["accuracy"] == pytest.approx(summary["best"]["val_accuracy"], abs=1e-6)
    assert json.loads((tmp_path / "config.json").read_text())["validation"] == "test"


def test_a_model_for_another_task_is_refused(tmp_path):
    with pytest.raises(
        ValueError, match="a model for classification, and the data set digits_segmentation is for"
    ):
        train(small_config(data="digits_segmentation"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_best_model_is_for_use_and_the_last_to_go_on(unbroken):
    assert not keras.models.load_model(unbroken / "best.keras").compiled
    last = keras.models.load_model(unbroken / "last.keras")
    assert isinstance(last, hsvit_keras.HSViT)
    assert int(last.optimizer.iterations) == 3 * STEPS
    assert isinstance(last.optimizer, keras.optimizers.AdamW)
    assert last.optimizer.weight_decay == 0.01


def test_a_finished_run_is_left_alone(unbroken, capsys, monkeypatch):
    before = {path.name: path.stat().st_mtime_ns for path in unbroken.iterdir()}
    monkeypatch.setattr(fitting_data, "load_dataset", None)
    summary = train(small_config(), unbroken)
    assert "finished run: nothing to do" in capsys.readouterr().out
    assert summary == json.loads((unbroken / "summary.json").read_text())
    assert {path.name: path.stat().st_mtime_ns for path in unbroken.iterdir()} == before


def test_another_config_in_the_same_folder_is_refused(unbroken):
    with pytest.raises(ValueError, match=r"learning_rate was 0\.003 and is 0\.1"):
        train(small_config(learning_rate=0.1), unbroken)


def test_a_run_does_not_go_on_on_another_backend(unbroken, tmp_path):
    for name in ("config.json", "last.keras"):
        (tmp_path / name).write_bytes((unbroken / name).read_bytes())
    (tmp_path / "run.json").write_text('{"backend": "torch"}')
    words = (
        f"holds a run with Keras on torch, and Keras runs on {keras.backend.backend()}.*KERAS_BACKEND=torch"
    )
    with pytest.raises(ValueError, match=words):
        train(small_config(), tmp_path)


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_a_run_that_breaks_off_amid_an_epoch_goes_on_to_the_same_end(unbroken, tmp_path, capsys):
    """Also from another state of all global random generators."""
    with broken_off():
        train(small_config(), tmp_path)
    assert len(metrics(tmp_path)) == 1
    assert not (tmp_path / "summary.json").exists()
    random.seed(99)
    np.random.seed(99)
    train(small_config(), tmp_path)
    assert "going on after epoch 1 of 3" in capsys.readouterr().out
    assert_same_run(unbroken, tmp_path)


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_a_run_killed_before_its_last_words_only_says_them(unbroken, tmp_path):
    for path in unbroken.iterdir():
        if path.is_file() and path.name not in ("summary.json", "curves.png", "samples.png", "said"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    train(small_config(), tmp_path)
    assert_same_run(unbroken, tmp_path)
    assert (tmp_path / "curves.png").exists() and (tmp_path / "summary.json").exists()


def test_the_seed_decides_the_batches():
    def first_batch(seed):
        return next(iter(Data(recipe.plain(small_config(seed=seed))).train(1)))[0]

    np.testing.assert_array_equal(first_batch(0), first_batch(0))
    assert not np.array_equal(first_batch(0), first_batch(1))


def test_nan_stops_the_run_and_keeps_the_last_good_files(tmp_path, monkeypatch):
    augment = Augmentation.__call__
    calls = []

    def spoil(self, images, labels, rng):
        images, labels = augment(self, images, labels, rng)
        if len(images) == 200 and self._transforms:
            calls.append(rng)
            # Keras looks at two batches first, on TensorFlow and on JAX alike
            images = images * (np.nan if len(calls) > 2 + STEPS + 4 else 1)
        return images, labels

    monkeypatch.setattr(Augmentation, "__call__", spoil)
    with pytest.raises(
        ValueError, match=r"loss became nan in epoch 2, step [345]\. Try a lower learning_rate"
    ) as raised:
        train(small_config(), tmp_path)
    assert str(raised.value).endswith(f"; the files of epoch 1 are in {tmp_path}")
    assert len(metrics(tmp_path)) == 1
    assert all(np.isfinite(values).all() for values in state(tmp_path))
    assert not (tmp_path / "summary.json").exists()


@pytest.mark.slow
def test_a_diverging_run_ends_with_one_line_and_status_1(tmp_path):
    rates = ("--config.learning_rate=1000", "--config.warmup_epochs=0")
    done = run_command(tmp_path, *rates, "--config.epochs=1")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "error: loss became" in done.stderr and "in epoch 1, step" in done.stderr
    assert "learning_rate than 1000" in done.stderr
    assert "the files of" not in done.stderr  # there are none
    assert list(tmp_path.iterdir()) == []


def arguments(workdir, *changes):
    """The command of a run on digits of 8 x 8 pixels, with small batches so that an epoch takes a while."""
    small = SMALL["model_arguments"]
    return [
        sys.executable,
        "-m",
        "training.train",
        "--config=training/configs/digits.py",
        f"--workdir={workdir}",
        "--config.image_shape=(8, 8, 1)",
        "--config.batch_size=20",
        "--config.epochs=4",
        *(f"--config.model_arguments.{name}={value}" for name, value in small.items()),
        *changes,
    ]


def run_command(workdir, *changes, **options):
    return subprocess.run(arguments(workdir, *changes), cwd=ROOT, capture_output=True, text=True, **options)


# Ends the process as it puts last.keras in place for the second time.
KILL_IN_WRITING = """
import os, pathlib, runpy, signal, sys
rename, seen = pathlib.Path.replace, []
def replace(self, target):
    if target.name == "last.keras":
        seen.append(target)
        if len(seen) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
    return rename(self, target)
pathlib.Path.replace = replace
sys.argv = sys.argv[1:]
runpy.run_module("training.train", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
def test_a_killed_process_goes_on_to_the_same_end(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert run_command(whole).returncode == 0

    python, _, _, *rest = arguments(broken)
    killed = subprocess.run([python, "-c", KILL_IN_WRITING, "train", *rest], cwd=ROOT, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert len(metrics(broken)) == 1
    assert list(broken.glob(".last.*.keras"))

    process = subprocess.Popen(arguments(broken), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("epoch 2"):
            break
    time.sleep(0.1)  # amid epoch 3
    process.kill()
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    assert len(metrics(broken)) == 2

    done = run_command(broken)
    assert done.returncode == 0
    assert "going on after epoch 2 of 4" in done.stdout
    assert_same_run(whole, broken)
    assert not list(broken.glob(".*"))


# A stand-in for a machine without TensorFlow.
WITHOUT_TENSORFLOW = """
import runpy, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "tensorflow":
            raise ModuleNotFoundError("No module named 'tensorflow'", name="tensorflow")
sys.meta_path.insert(0, Blocked())
sys.argv = sys.argv[1:]
runpy.run_module("training.train", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
def test_jax_trains_and_goes_on_without_tensorflow(tmp_path):
    pytest.importorskip("jax")
    workdirs = [tmp_path / "whole", tmp_path / "broken"]
    environment = {**os.environ, "KERAS_BACKEND": "jax", "PYTHONWARNINGS": "error::UserWarning"}
    for workdir in workdirs:
        python, _, _, *rest = arguments(workdir, "--config.epochs=2", "--config.batch_size=100")
        run = [python, "-c", WITHOUT_TENSORFLOW, "train", *rest]
        if workdir.name == "broken":
            process = subprocess.Popen(
                run, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            for line in process.stdout:
                if line.startswith("epoch 1"):
                    break
            process.kill()
            process.wait()
            process.stdout.close()
        done = subprocess.run(run, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads((workdir / "summary.json").read_text())["backend"] == "jax"
    assert "going on after epoch 1 of 2" in done.stdout
    assert_same_run(*workdirs)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_trains_goes_on_and_leaves_a_float32_model(tmp_path, dtype):
    workdirs = [tmp_path / "whole", tmp_path / "broken"]
    config = small_config(dtype=dtype, epochs=2)
    train(config, workdirs[0])
    with broken_off():
        train(config, workdirs[1])
    train(config, workdirs[1])
    assert_same_run(*workdirs)
    rows = metrics(workdirs[0])
    assert rows[1]["loss"] < rows[0]["loss"]
    last = keras.models.load_model(workdirs[0] / "last.keras")
    assert last.get_layer("head").compute_dtype == dtype.removeprefix("mixed_")
    assert isinstance(last.optimizer, keras.optimizers.LossScaleOptimizer) == (dtype == "mixed_float16")
    best = keras.models.load_model(workdirs[0] / "best.keras")
    assert {layer.compute_dtype for layer in best.layers} == {"float32"}


@pytest.mark.slow
@pytest.mark.parametrize("jit", [True, False])
def test_jit_can_be_chosen(tmp_path, jit):
    train(small_config(jit=jit, epochs=1), tmp_path)
    assert keras.models.load_model(tmp_path / "last.keras").jit_compile == jit


@pytest.mark.exhaustive
def test_a_folder_of_class_folders_decides_the_classes(tmp_path):
    rng = np.random.default_rng(0)
    for name, brightness in (("dark", 0), ("light", 155), ("medium", 80)):
        for part in ("train", "test"):
            (tmp_path / "images" / part / name).mkdir(parents=True)
            for i in range(20):
                pixels = rng.integers(brightness, brightness + 100, (12, 10, 3)).astype(np.uint8)
                Image.fromarray(pixels).save(tmp_path / "images" / part / name / f"{i}.png")
    config = folder.get_config()
    for key, value in {**SMALL, "image_shape": (8, 8, 3), "batch_size": 20, "epochs": 30}.items():
        config[key] = value
    summary = train(config, tmp_path / "run", data_dir=tmp_path / "images")
    best = keras.models.load_model(tmp_path / "run/best.keras")
    assert description_of(best).class_names == ("dark", "light", "medium")
    assert best.output_shape == (None, 3)
    assert summary["images"] == {"train": 54, "validation": 6, "test": 60}
    assert summary["best"]["val_accuracy"] > 0.8


@pytest.mark.exhaustive
def test_the_demo_reads_digits(tmp_path):
    """The whole recipe of the demo, on which `make demo` depends."""
    train(digits.get_config(), tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text())["test"]["accuracy"] >= 0.97


def test_label_smoothing_reaches_the_loss():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, kernel_initializer="zeros")])
    values = recipe.plain(small_config(label_smoothing=0.2))
    fit.compile_model(model, values, task_named("classification"), num_classes=2, steps=1)
    logits, labels = np.array([[2.0, 0.0]], "float32"), np.array([[1.0, 0.0]], "float32")
    log_probabilities = logits - np.log(np.exp(logits).sum())
    expected = -(0.9 * log_probabilities[0, 0] + 0.1 * log_probabilities[0, 1])
    assert float(model.loss(labels, logits)) == pytest.approx(expected, rel=1e-5)


def taught_by(run, **changes):
    return small_config(
        distillation={**DISTILLATION, "teachers": (str(run / "best.keras"),)}, augmentation=(), **changes
    )


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_a_run_learns_from_a_teacher(unbroken, tmp_path, capsys):
    train(taught_by(unbroken, epochs=1), tmp_path)
    assert f"taught by {unbroken / 'best.keras'}" in capsys.readouterr().out
    assert metrics(tmp_path)[0]["loss"] != metrics(unbroken)[0]["loss"]
    best = keras.models.load_model(tmp_path / "best.keras")
    assert isinstance(best, hsvit_keras.HSViT)
    teacher = keras.models.load_model(unbroken / "best.keras")
    assert [w.shape for w in best.weights] == [w.shape for w in teacher.weights]


@pytest.mark.slow
def test_a_run_with_a_teacher_goes_on_to_the_same_end(unbroken, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(taught_by(unbroken, epochs=2), whole)
    with broken_off():
        train(taught_by(unbroken, epochs=2), broken)
    train(taught_by(unbroken, epochs=2), broken)
    assert metrics(whole) == metrics(broken)


def test_a_teacher_that_does_not_say_its_pixels_is_refused(tmp_path):
    teacher = hsvit_keras.create_model(
        "hsvit_tiny", input_shape=(8, 8, 1), num_classes=10, **SMALL["model_arguments"]
    )
    teacher.save(tmp_path / "teacher.keras")
    distillation = {**DISTILLATION, "teachers": (str(tmp_path / "teacher.keras"),)}
    words = (
        "teacher .*teacher.keras: the model does not say which values its pixels have: .* by "
        "config.distillation.teacher_input_range, such as 0,255"
    )
    with pytest.raises(ValueError, match=words):
        train(small_config(distillation=distillation), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_float_copy_follows_the_model():
    model = hsvit_keras.create_model(
        "hsvit_tiny", input_shape=(8, 8, 1), filters=(8,), pool_strides=(2,), dtype="mixed_bfloat16"
    )
    copy = FloatCopy(model)
    model.set_weights([np.full(weight.shape, 0.5, "float32") for weight in model.weights])
    assert all((np.array(weight) == 0.5).all() for weight in copy().weights)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"batch_size": 1299}, "batch_size=1299 is more than the 1298 images"),
        ({"data": "digitz"}, "data='digitz' is not a known data set"),
        ({"validation": {"share": 1e-4, "seed": 0}}, "a share of 0.0001 of the 1442 images of digits"),
        ({"model": "hsvit_tony"}, "no model 'hsvit_tony'"),
        ({"augmentation": (("RandomFlap", {}),)}, "no layer 'RandomFlap'"),
        (
            {"augmentation": (("RandAugment", {"fill": (1, 2, 3)}),)},
            "fill has 3 numbers, and the images have 1",
        ),
        ({"augmentation": (("RandomErasing", {"mean": (0.1, 0.2)}),)}, "one for each of 1 channels"),
        ({"views": 3, "batch_size": 300}, "views=3 of 1298 images are in different batches"),
        ({"mean": (0.1, 0.2)}, r"mean=\[0.1, 0.2\]"),
    ],
)
def test_a_wrong_config_ends_before_anything_is_written(tmp_path, changes, words):
    with pytest.raises(ValueError, match=words):
        train(small_config(**changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_missing_images_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="CIFAR-10"):
        train(small_config(data="cifar10", image_shape=(32, 32, 3)), tmp_path / "run", data_dir=tmp_path)
    assert not (tmp_path / "run").exists()


def test_a_broken_image_is_named_with_what_to_do(tmp_path):
    data_dir = tmp_path / "set"
    for part in ("train", "test"):
        for name in ("one", "two"):
            write_class_folder(data_dir / part / name, 4, value=100)
    for number in range(4):  # whichever is in the training part
        (data_dir / "train" / "two" / f"{number}.png").write_bytes(b"broken")
    config = folder.get_config()
    for key, value in {**SMALL, "batch_size": 4, "mean": (0.5,), "std": (0.5,)}.items():
        config[key] = value
    with pytest.raises(OSError, match="cannot read the image") as raised:
        train(config, tmp_path / "run", data_dir)
    message = str(raised.value)
    assert "\n" not in message
    assert f"cannot read the image {data_dir}/train/two/" in message
    assert (
        f"Remove or replace it: `python -m training.data --data=folder --data_dir={data_dir} --verify`"
        in message
    )


@pytest.mark.parametrize(
    "place, words",
    [
        ("file", "--workdir=.*file is a file"),
        ("file/run", "cannot make the folder .*file/run: Not a directory"),
    ],
)
def test_a_workdir_that_cannot_be(tmp_path, place, words):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=words):
        train(small_config(epochs=1), tmp_path / place)
