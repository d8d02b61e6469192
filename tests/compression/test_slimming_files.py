"""Slimmed models are models like others: saved, loaded elsewhere, trained, folded, converted."""

import subprocess
import sys

import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.compression.quantization import quantize_aware, remove_quantization
from tests.compression.test_slimming import (
    answers,
    assert_equal_answers,
    with_random_weights,
)
from tests.models.running import ON_JAX, images
from tests.models.small import small_model

# Together they have all layers whose arguments change; JAX takes long to compile them.
NAMES = ["hsvit_c2a2"] if ON_JAX else ["hsvit_c2a2", "dhvt_s_cifar_p2", "hybrid_vin_rope"]


def half(model):
    """Half of everything that a model has."""
    parts = hsvit_keras.slimmable_parts(model)
    return hsvit_keras.slim(model, **{kind: 0.5 for kind, found in parts.items() if found})


LOAD = """
import sys, keras, numpy as np
import hsvit_keras
folder = sys.argv[1]
for name in sys.argv[2:]:
    model = keras.models.load_model(f"{folder}/{name}.keras")
    images = np.load(f"{folder}/{name}_images.npy")
    on_jax = keras.backend.backend() == "jax"
    answers = model.predict_on_batch(images) if on_jax else np.asarray(model(images, training=False))
    assert np.array_equal(answers, np.load(f"{folder}/{name}.npy")), name
    print("loaded", name, hsvit_keras.slim(model, blocks=1).count_params())
"""


def test_slimmed_models_load_in_a_fresh_process(tmp_path):
    for name in NAMES:
        model = half(with_random_weights(small_model(name)))
        model.save(tmp_path / f"{name}.keras")
        np.save(tmp_path / f"{name}_images.npy", images(model))
        np.save(tmp_path / f"{name}.npy", answers(model))
    command = [sys.executable, "-c", LOAD, str(tmp_path), *NAMES]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("loaded")] == NAMES


def test_a_slimmed_model_can_be_quantized():
    """Before the ranges are set only weights are rounded; taken off again, it is the slimmed model."""
    model = half(with_random_weights(small_model("hsvit_c2a2")))
    quantized = quantize_aware(model)
    assert quantized.get_layer("block0_attention_key").kernel.shape == (2, 16, 8)
    assert_equal_answers(remove_quantization(quantized), model)


def test_folding_and_slimming_in_any_order():
    model = with_random_weights(small_model("hsvit_c2a2"))
    wishes = {"groups": [0, 3], "kernels": {"stage0_conv1": [1, 2]}}
    folded_first = hsvit_keras.slim(hsvit_keras.fold_batch_norm(model), **wishes)
    assert_equal_answers(folded_first, hsvit_keras.fold_batch_norm(hsvit_keras.slim(model, **wishes)))


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "presets"), [("deit_base", ["float32"]), ("hsvit_c2a2", ["float32", "dynamic"])]
)
def test_converts(name, presets):
    """To a file that is smaller, is accelerated as a whole and computes what the model does."""
    from hsvit_keras.artifacts.lowering import lower
    from hsvit_keras.artifacts.tflite_conversion import convert
    from hsvit_runtime.tflite_model import TFLiteModel

    model = with_random_weights(small_model(name, hidden_dim=32, num_heads=4))
    slimmed = half(model)
    expected, lowered = answers(slimmed), [lower(each) for each in (model, slimmed)]
    for preset in presets:
        files = [convert(each, preset) for each in lowered]
        assert len(files[1]) < 0.8 * len(files[0])
        report = hsvit_keras.inspect_tflite(files[1])
        assert report["partitions"] == 1
        assert report["fully_delegated"]
        tolerance = {"float32": 2e-5, "dynamic": 0.1}[preset] * np.abs(expected).max()
        outputs = TFLiteModel(files[1]).predict_only(images(slimmed))
        np.testing.assert_allclose(outputs, expected, atol=tolerance)


@pytest.mark.tensorflow
def test_group_dropout_leaves_nothing_in_the_file():
    from hsvit_keras.artifacts.lowering import lower
    from hsvit_keras.artifacts.tflite_conversion import convert

    plain, dropping = (small_model("hsvit_c2a2", depth=1, group_dropout_rate=rate) for rate in (0.0, 0.5))
    dropping.set_weights(plain.get_weights())
    assert_equal_answers(lower(dropping, batch_size=2), plain)
    ops = [hsvit_keras.inspect_tflite(convert(lower(m), "float32"))["ops"] for m in (plain, dropping)]
    assert ops[0] == ops[1]
    slimmed = hsvit_keras.slim(dropping, groups=[0, 1])
    assert slimmed.get_layer("group_dropout").rate == 0.5
    assert_equal_answers(slimmed, hsvit_keras.slim(plain, groups=[0, 1]))
