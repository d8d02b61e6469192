"""Every family as an artifact: accelerated whole, and with the answers of Keras.

A new family is covered by registering it. One model of each class and of each kind of attention stands
for the others, which `make test-slow` converts.
"""

import keras
import numpy as np
import pytest

from tests.models import small

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from export import tflite
from export.inspection import inspect
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.artifacts.writing import check_parity
from hsvit_runtime.litert import tflite_file
from measuring import latency_statistics

pytestmark = pytest.mark.tensorflow

# The converter quantizes weights of 1,024 elements and more; those of the small models have fewer.
WIDER = 16
# With random weights attention averages the signal away and keeps the noise of 8 bits, 1 % a layer: measured
# layer by layer, it grows to 6 % of the logits of hybrid_vil. A trained model has to keep the preset's limit.
LIMITS = {"float32": tflite.PRESETS["float32"].limits, "dynamic": {"cosine": 1 - 0.06**2 / 2}}
WIDTHS = ("hidden_dim", "hidden_dims", "head_dim", "head_dims", "mlp_dim")


def wide_model(name):
    """A small model wide enough to be quantized, whose weights are not those of a fresh one."""
    _, arguments = small._small(name)
    wider = {key: np.multiply(arguments[key], WIDER) for key in WIDTHS if key in arguments}
    model = small.small_model(name, **wider)
    rng = np.random.default_rng(0)
    model.set_weights([weight * rng.uniform(0.8, 1.2, weight.shape) for weight in model.get_weights()])
    return model


@pytest.mark.parametrize("name", list(small.each_kind()))
def test_artifacts(name):
    model = wide_model(name)
    images = np.random.default_rng(0).normal(size=(4, *model.input_shape[1:])).astype("float32")
    expected = np.asarray(model(images, training=False))
    lowered = lower(model)
    sizes = {}
    for preset in ("float32", "dynamic"):
        content = tflite.convert(lowered, preset)
        found = inspect(content)
        assert found["undelegated_ops"] == found["custom_ops"] == found["flex_ops"] == []
        assert (found["partitions"], found["fully_delegated"]) == (1, True)
        tensors = [t for graph in tflite_file.read(content, name).subgraphs for t in graph.tensors]
        assert max(len(tensor.shape) for tensor in tensors) <= 4
        answer = tflite.runner(content)
        parity = latency_statistics.agreement(
            expected, np.concatenate([answer(image[None]) for image in images])
        )
        parity |= {"samples": len(images), "largest_answer": np.abs(expected).max()}
        check_parity(parity, LIMITS[preset])
        sizes[preset] = len(content)
    assert sizes["dynamic"] < 0.5 * sizes["float32"]
