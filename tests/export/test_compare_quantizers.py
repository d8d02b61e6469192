"""Our quantization beside that of other tools, by the command's own library."""

import json

import keras
import numpy as np
import pytest

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from export.quantizers import comparison, models
from hsvit_keras.artifacts.keras_model import predict
from hsvit_runtime.errors import InputError

pytestmark = pytest.mark.tensorflow


def test_unknown_models_are_named(tmp_path):
    with pytest.raises(InputError, match="--models: resnet is none of hsvit_tiny, cct"):
        comparison.compare(tmp_path, ["plain", "resnet"])
    assert not list(tmp_path.iterdir())


def test_there_are_twenty_models_or_more():
    """Built only where that is cheap."""
    assert len(models.names()) >= 20
    for name in ("plain", "residual", "hourglass", "transformer"):
        assert models.create(name).output_shape == (None, models.CLASSES)


@pytest.mark.exhaustive
def test_comparison(tmp_path, monkeypatch, capsys):
    report = comparison.compare(tmp_path, ["separable"], epochs=2)
    assert json.loads((tmp_path / "quantizers.json").read_text()) == report
    found = report["models"]["separable"]
    model = keras.models.load_model(tmp_path / "separable.keras")
    images, labels = comparison._digits("test")
    (logits,) = predict(model, {"pixels": images}).values()
    assert found["accuracy"] == pytest.approx(np.mean(logits.argmax(-1) == labels))
    assert {"ours", "TFLiteConverter", "ai-edge-quantizer", "ours, equalized"} <= found["tools"].keys()
    ours, stock = found["tools"]["ours"], found["tools"]["TFLiteConverter"]
    # Each of four separable convolutions is two; there are three others, and the head.
    convolutions = {"CONV_2D": 7, "DEPTHWISE_CONV_2D": 4, "FULLY_CONNECTED": 1}
    for tool in (ours, stock):
        assert {kind: tool["integer_ops"].get(kind, 0) for kind in convolutions} == convolutions
        assert 0 < tool["error"] < 0.2 and tool["alike"] > 0.9
    assert ours["partitions"] == 1 and not ours["float_ops"]

    monkeypatch.setattr(comparison, "_trained", None)  # what is there is not computed again
    assert comparison.compare(tmp_path, ["separable"], epochs=2) == report
    assert "ours is the nearest on" in comparison.summary(report)
