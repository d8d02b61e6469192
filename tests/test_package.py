"""What importing the package costs, and what it needs."""

import os
import subprocess
import sys

import pytest

import hsvit_keras


def run(code, backend):
    environment = {**os.environ, "KERAS_BACKEND": backend}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


@pytest.mark.slow
def test_works_on_jax_without_tensorflow(tmp_path):
    """With the import of TensorFlow blocked: build, answer, learn, fold, save, load."""
    code = f"""
import sys
sys.modules["tensorflow"] = None
import keras, numpy as np
import hsvit_keras
model = hsvit_keras.create_model("hsvit_tiny", input_shape=(16, 16, 1))
images, labels = np.zeros((4, 16, 16, 1), "float32"), np.arange(4)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(images, labels, verbose=0)
folded = hsvit_keras.fold_batch_norm(model)
try:
    hsvit_keras.to_tflite(model, "model.tflite")
except ValueError as error:
    assert "this needs Keras on tensorflow" in str(error), error
path = {str(tmp_path / "model.keras")!r}
folded.save(path)
loaded = keras.models.load_model(path)
assert np.array_equal(np.asarray(loaded(images)), np.asarray(folded(images)))
print(keras.backend.backend(), sys.modules["tensorflow"])
"""
    assert run(code, "jax").split() == ["jax", "None"]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_import_is_light(backend):
    """Nothing beyond what `import keras` loads but our own modules."""
    code = """
import sys
import keras
before = set(sys.modules)
import hsvit_keras
print(*sorted({name.split(".")[0] for name in set(sys.modules) - before}))
"""
    imported = set(run(code, backend).split())
    assert "hsvit_keras" in imported
    assert imported - {"hsvit_keras", "hsvit_runtime"} <= set(sys.stdlib_module_names)


def test_import_needs_keras_and_numpy_alone():
    """Without anything that an extra brings; in this environment, TensorFlow or JAX may have loaded some."""
    code = """
import sys
for name in ("tensorflow", "flatbuffers", "ai_edge_litert", "onnx", "onnxruntime", "tf2onnx", "PIL"):
    sys.modules[name] = None
import hsvit_keras
print(hsvit_keras.create_model("hsvit_tiny", input_shape=(16, 16, 1)).name)
"""
    assert run(code, "jax").strip() == "hsvit_tiny"


def test_the_runtime_needs_no_keras():
    """Nodes that serve a file, and inspection, start without it."""
    code = """
import sys
import hsvit_runtime.description, hsvit_runtime.inspection, hsvit_runtime.metadata
import hsvit_runtime.onnx_model, hsvit_runtime.pixels, hsvit_runtime.tflite_model
print({"keras", "hsvit_keras", "tensorflow"} & set(sys.modules))
"""
    assert run(code, "tensorflow").strip() == "set()"


def test_public_names():
    assert set(hsvit_keras.__all__) <= set(dir(hsvit_keras))
    for name in (
        "create_model", "list_models", "from_torch", "fold_batch_norm", "HSViT",
        "to_tflite", "to_onnx", "inspect_tflite", "open_model", "Samples",
    ):  # fmt: skip
        assert name in hsvit_keras.__all__
        assert getattr(hsvit_keras, name).__doc__
