"""Artifacts of models of keras-hub and keras-cv."""

import keras
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from tests.compression import other_models
from tests.parameters import exhaustive_but

pytestmark = [
    pytest.mark.slow,
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore"),  # those packages warn of what is theirs
]

# Of windows, rolled maps and class tokens, XNNPACK takes only some operations.
WHOLE = ("ResNet", "ResNetV2", "EfficientNet", "EfficientNetV1", "EfficientNetV2", "DenseNet", "MobileNet")


@pytest.mark.parametrize("name", exhaustive_but(other_models.A_FEW, other_models.MODELS))
def test_artifacts(name, tmp_path):
    """Each is compared with the model before it is written."""
    model = other_models.model_named(name)
    images = other_models.images_of(model)
    for preset in ("float32", "int8"):
        report = hsvit_keras.to_tflite(
            model, tmp_path / f"{preset}.tflite", preset=preset, samples=images,
            calibration=[images] if preset == "int8" else None,
        )  # fmt: skip
        assert report["flex_ops"] == []
        assert report["fully_delegated"] or name.split()[1] not in WHOLE
        if preset == "float32":
            assert report["parity_with_original"]["max_abs_diff"] < 1e-4
    report = hsvit_keras.to_onnx(model, tmp_path / "model.onnx", preset="float32", samples=images)
    assert report["parity_with_original"]["max_abs_diff"] < 1e-4
