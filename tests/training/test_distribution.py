"""Several devices compute what one computes; what they hold and send is as the model's shape tells."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.models.small import small_model
from training.configs import digits
from training.fitting import distribution
from training.fitting.run import train

pytestmark = pytest.mark.once


def run(*arguments, backend="jax"):
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        env={**os.environ, "KERAS_BACKEND": backend, "JAX_DISABLE_MOST_OPTIMIZATIONS": "0"},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def trained():
    finished = run("tests.training.distribution_cases")
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("kind", distribution.KINDS)
def test_losses_are_those_of_one_device(trained, kind):
    np.testing.assert_allclose(trained[kind]["losses"], trained["one"]["losses"], rtol=1e-5)
    np.testing.assert_allclose(trained[kind]["val_loss"], trained["one"]["val_loss"], rtol=1e-4)
    assert trained["one"]["losses"][-1] != trained["one"]["losses"][0]


@pytest.mark.slow
def test_devices_that_share_images_send_the_gradient_of_every_weight(trained):
    sent = trained["data"]["bytes"]
    gradients = 4 * trained["data"]["parameters"]
    # Beside them only means and variances of batch normalization, the loss and the metric.
    assert gradients <= sent["all-reduce"] <= 1.1 * gradients
    # Around a ring, each of 4 devices sends three quarters of all, twice.
    assert sent["sent_by_each_device"] == round(1.5 * sent["all-reduce"])
    assert trained["data"]["cut"] == []


@pytest.mark.slow
def test_devices_that_share_groups_hold_only_their_own(trained):
    projections = {f"block{i}_attention_{part}/kernel" for i in (0, 1) for part in ("query", "key", "value")}
    cut = set(trained["groups"]["cut"])
    assert projections | {"stage1_conv1/kernel", "class_token/class_token", "block0_norm/gamma"} <= cut
    assert not cut & {"stage0_conv0/kernel", "head/kernel", "embedding/kernel"}


@pytest.mark.slow
def test_devices_that_share_groups_send_the_maps_gradient(trained):
    """The last convolution reads 16 maps of 4 x 4 pixels of each of 16 images, to all groups."""
    sent = trained["groups"]["bytes"]
    maps = 4 * 16 * 16 * 4 * 4
    assert maps <= sent["all-reduce"] + sent.get("all-gather", 0)
    assert trained["one"]["bytes"] is None


@pytest.mark.slow
def test_the_command_reports_what_is_sent(tmp_path):
    finished = run(
        "training.train",
        "--config=training/configs/digits.py",
        "--config.epochs=1",
        "--config.warmup_epochs=0",
        "--config.image_shape=(8, 8, 1)",
        "--config.batch_size=200",
        "--distribution=data",
        "--num_devices=2",
        f"--workdir={tmp_path}",
    )
    assert finished.returncode == 0, finished.stderr
    summary = json.loads((tmp_path / "summary.json").read_text())["distribution"]
    assert (summary["kind"], summary["num_devices"]) == ("data", 2)
    sent = summary["bytes"]["sent_by_each_device"]
    assert sent > 50_000 * 4
    assert f"2 devices, each sends {sent:,} bytes a step" in finished.stdout


def test_bytes_are_read_from_a_program():
    program = """
  %a = f32[4,8]{1,0} all-reduce(f32[4,8]{1,0} %x), channel_id=1
  %b = (bf16[10]{0}, /*index=1*/pred[3]{0}) all-gather(%y, %z), dimensions={0}
  %c = f32[2]{0} add(f32[2]{0} %all-reduce.7, %q)
"""
    assert distribution._collectives(program, 4) == {
        "all-reduce": 128, "all-gather": 23, "sent_by_each_device": round(1.5 * 128 + 0.75 * 23),
    }  # fmt: skip


def test_errors(tmp_path):
    model = lambda **arguments: lambda: small_model("hsvit_c2a2", **arguments)  # noqa: E731
    with pytest.raises(ValueError, match="distribution has to be one of data, groups; received 'rows'"):
        distribution.distribute("rows", ["cpu:0"], 16, model())
    with pytest.raises(
        ValueError, match="a batch size that the 3 devices can share evenly; received batch_size=16"
    ):
        distribution.distribute("data", ["cpu:0"] * 3, 16, model())
    with pytest.raises(
        ValueError, match=r"attention groups that num_devices=3 divides; 'hsvit\w*' has 4 groups"
    ):
        distribution.distribute("groups", ["cpu:0", "cpu:1", "cpu:2"], 16, model())
    with pytest.raises(ValueError, match="has no groups"):
        distribution.distribute("groups", ["cpu:0"], 16, model(attention_groups=0))


@pytest.mark.slow
@pytest.mark.tensorflow
def test_tensorflow_is_refused(tmp_path):
    with pytest.raises(
        ValueError, match="needs Keras on jax, and Keras runs on tensorflow: set the environment"
    ):
        train(digits.get_config(), tmp_path, distribution="data", num_devices=2)
    finished = run(
        "training.train", "--config=training/configs/digits.py", f"--workdir={tmp_path}", "--num_devices=2"
    )
    assert finished.returncode == 1
    assert finished.stderr == "error: --distribution and --num_devices need each other\n"
