"""What a user of the wheel does with a model of theirs: convert it, look into the files, run them.

Run by `.ci/run` in an environment that has `hsvit-keras[tflite]` and no checkout; not a test module.
"""

import pathlib
import tempfile

import keras
import numpy as np

import hsvit_keras

assert "site-packages" in hsvit_keras.__file__, hsvit_keras.__file__
folder = pathlib.Path(tempfile.mkdtemp())
names = [f"class {number}" for number in range(5)]
model = hsvit_keras.create_model(
    "hsvit_tiny", input_shape=(32, 32, 3), num_classes=5, mean=(0.5, 0.4, 0.3), std=0.25, class_names=names
)
pixels = np.random.default_rng(0).integers(0, 256, (32, 32, 32, 3)).astype("float32")
quantized = hsvit_keras.calibrate(model, [pixels], corrects_biases=True)  # as conversions do
model.save(folder / "model.keras")


def probabilities(model):
    powers = np.exp(np.asarray(model(pixels, training=False), "float64"))
    return powers / powers.sum(-1, keepdims=True)


for preset in ("float32", "float16", "dynamic", "int8"):
    path = folder / f"{preset}.tflite"
    hsvit_keras.to_tflite(
        folder / "model.keras",
        path,
        preset=preset,
        calibration=[pixels] if preset == "int8" else None,
        samples=pixels,
        input_type="uint8" if preset == "int8" else "float32",
    )
    found = hsvit_keras.inspect_tflite(path)
    assert found["fully_delegated"] or preset == "int8", found["undelegated_ops"]
    artifact = hsvit_keras.open_model(path)
    assert artifact.description.class_names == tuple(names)
    outputs, expected = artifact.predict_only(pixels), probabilities(quantized if preset == "int8" else model)
    cosine = np.sum(outputs * expected) / np.linalg.norm(outputs) / np.linalg.norm(expected)
    assert cosine >= 0.999, (preset, cosine)
    if preset == "float32":
        np.testing.assert_allclose(outputs, expected, atol=1e-5)

loaded = hsvit_keras.open_model(folder / "model.keras")
np.testing.assert_allclose(loaded.predict_only(pixels), model(pixels, training=False), atol=1e-4)
assert isinstance(keras.models.load_model(folder / "model.keras"), hsvit_keras.HSViT)
try:
    hsvit_keras.to_onnx(model, folder / "model.onnx")
except ImportError as error:
    assert "pip install onnx" in str(error), error
print("the wheel converts, inspects and runs models")
