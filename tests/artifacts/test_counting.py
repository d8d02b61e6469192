"""The multiply-adds that a Keras graph announces are those in its artifact."""

import pytest

from export.inspection import inspect
from export.tflite import convert
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.compression.counting import count_multiply_adds
from tests.models.small import small_model


def in_artifact(model):
    return inspect(convert(lower(model), "float32"))["total_macs"]


@pytest.mark.parametrize(
    "name",
    ["hsvit_tiny", "deit_tiny_distilled", "pit_ti", "dhvt_s_cifar_p4", "hvt_s_1", "fnet", "vip", "cvn"],
)
def test_the_graph_announces_what_the_artifact_computes(name):
    model = small_model(name)
    assert count_multiply_adds(model) == in_artifact(model)


def test_what_the_converter_finds_out_itself_is_not_announced():
    """In ViL keys and values are one tensor: it computes their projection, the same product, once."""
    model = small_model("vil")
    announced, found = count_multiply_adds(model), in_artifact(model)
    assert found < announced < 1.05 * found
