"""Slimmed models are saved, loaded in another process, quantized, folded and converted like other models."""

import subprocess
import sys

import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.compression.quantization import quantize_aware, remove_quantization
from hsvit_runtime import inspection
from tests.compression.test_slimming import (
    assert_equal_outputs,
    with_random_weights,
)
from tests.models.running import ON_JAX, images, outputs
from tests.models.small import small_model

# Together they have all layers whose arguments change. On JAX compiling them takes long.
NAMES = ["hsvit_c2a2"] if ON_JAX else ["hsvit_c2a2", "dhvt_s_cifar_p2", "hybrid_vin_rope"]


def half(model):
    """Removes half of the parts of each kind."""
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
    outputs = model.predict_on_batch(images) if on_jax else np.asarray(model(images, training=False))
    assert np.array_equal(outputs, np.load(f"{folder}/{name}.npy")), name
    print("loaded", name, hsvit_keras.slim(model, blocks=1).count_params())
"""


@pytest.mark.slow
def test_slimmed_models_load_in_a_fresh_process(tmp_path):
    for name in NAMES:
        model = half(with_random_weights(small_model(name)))
        model.save(tmp_path / f"{name}.keras")
        np.save(tmp_path / f"{name}_images.npy", images(model))
        np.save(tmp_path / f"{name}.npy", outputs(model, images(model)))
    command = [sys.executable, "-c", LOAD, str(tmp_path), *NAMES]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("loaded")] == NAMES


def test_a_slimmed_model_can_be_quantized():
    """With quantization removed again, it equals the slimmed model."""
    model = half(with_random_weights(small_model("hsvit_c2a2")))
    quantized = quantize_aware(model)
    assert quantized.get_layer("block0_attention_key").kernel.shape == (2, 16, 8)
    assert_equal_outputs(remove_quantization(quantized), model)


def test_folding_and_slimming_in_any_order():
    model = with_random_weights(small_model("hsvit_c2a2"))
    kept = {"groups": [0, 3], "kernels": {"stage0_conv1": [1, 2]}}
    folded_first = hsvit_keras.slim(hsvit_keras.fold_batch_norm(model), **kept)
    assert_equal_outputs(folded_first, hsvit_keras.fold_batch_norm(hsvit_keras.slim(model, **kept)))


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "name, preset",
    [
        pytest.param("deit_base", "float32", marks=pytest.mark.slow),
        ("hsvit_c2a2", "float32"),
        pytest.param("hsvit_c2a2", "dynamic", marks=pytest.mark.slow),
    ],
)
def test_converts(name, preset):
    """To a smaller file that is fully delegated and has the outputs of the model."""
    from hsvit_keras.artifacts.lowering import lower
    from hsvit_keras.artifacts.tflite_conversion import convert
    from hsvit_runtime.tflite_model import TFLiteModel

    model = with_random_weights(small_model(name, hidden_dim=32, num_heads=4))
    slimmed = half(model)
    files = [convert(lower(m), preset) for m in (model, slimmed)]
    assert len(files[1]) < 0.8 * len(files[0])
    report = inspection.inspect(files[1])
    assert report["partitions"] == 1
    assert report["fully_delegated"]
    expected = outputs(slimmed, images(slimmed))
    result = TFLiteModel(files[1]).predict_only(images(slimmed))
    tolerance = {"float32": 2e-5, "dynamic": 0.1}[preset]
    np.testing.assert_allclose(result, expected, atol=tolerance * np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.tensorflow
def test_group_dropout_adds_no_ops_to_the_file():
    from hsvit_keras.artifacts.lowering import lower
    from hsvit_keras.artifacts.tflite_conversion import convert

    plain, dropping = (small_model("hsvit_c2a2", group_dropout_rate=rate) for rate in (0.0, 0.5))
    dropping.set_weights(plain.get_weights())
    assert_equal_outputs(lower(dropping, batch_size=2), plain)
    ops = [inspection.inspect(convert(lower(m), "float32"))["ops"] for m in (plain, dropping)]
    assert ops[0] == ops[1]
    slimmed = hsvit_keras.slim(dropping, groups=[0, 1])
    assert slimmed.get_layer("group_dropout").rate == 0.5
    assert_equal_outputs(slimmed, hsvit_keras.slim(plain, groups=[0, 1]))
