"""`create_model` and `list_models`."""

import pytest

import hsvit_keras
from hsvit_keras.models.registry import register_model

pytestmark = pytest.mark.once


def test_list_models():
    assert {"hsvit_c2a2", "hsvit_c3a4", "hsvit_c4a8", "hsvit_tiny"} <= set(hsvit_keras.list_models())
    assert hsvit_keras.list_models("hsvit_c?a4") == ["hsvit_c3a4"]
    assert hsvit_keras.list_models("nothing*") == []


def test_overrides():
    model = hsvit_keras.create_model(
        "hsvit_tiny", input_shape=(16, 24, 3), num_classes=7, depth=3, dropout_rate=0.0
    )
    assert (model.input_shape, model.output_shape) == ((None, 16, 24, 3), (None, 7))
    assert (model.depth, model.dropout_rate) == (3, 0.0)


def test_model_has_the_name_of_its_variant():
    assert hsvit_keras.create_model("hsvit_tiny").name == "hsvit_tiny"


def test_unknown_model():
    with pytest.raises(ValueError, match="no model 'hsvit_c2a3'; did you mean 'hsvit_c2a2'"):
        hsvit_keras.create_model("hsvit_c2a3")
    with pytest.raises(ValueError, match=r"no model 'zzz'; there are ccl, .* and \d+ more$") as raised:
        hsvit_keras.create_model("zzz")
    assert len(str(raised.value)) < 1000


def test_argument_with_a_typo():
    with pytest.raises(TypeError, match="no argument 'pool_stride'; did you mean 'pool_strides'"):
        hsvit_keras.create_model("hsvit_tiny", pool_stride=(2, 2))


def test_zero_classes_are_not_the_default():
    with pytest.raises(ValueError, match="num_classes=0"):
        hsvit_keras.create_model("hsvit_tiny", num_classes=0)


def test_names_are_registered_once():
    with pytest.raises(ValueError, match="'hsvit_tiny' is registered already"):
        register_model("hsvit_tiny", hsvit_keras.HSViT, input_shape=(8, 8, 1), num_classes=2, arguments=dict)
