"""The tables in the docstrings of the model classes tell what the models really have."""

import re

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("multiply-adds are counted in a mobile artifact", allow_module_level=True)

from export import tflite
from export.inspection import inspect
from export.lowering import lower

pytestmark = pytest.mark.tensorflow

ROW = re.compile(r"\| `(\w+)` *\| (\d+) x (\d+) x (\d) *\| (\d+) *\| ([\d,]+) *\| ([\d.]+) M *\|")
ROWS = ROW.findall(hsvit_keras.HSViT.__doc__)


def test_every_variant_stands_in_the_table():
    assert {row[0] for row in ROWS} == set(hsvit_keras.list_models("hsvit*"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_row(row):
    name, height, width, channels, classes, parameters, macs = row
    shape = tuple(map(int, (height, width, channels)))
    model = hsvit_keras.create_model(name, input_shape=shape, num_classes=int(classes))
    assert f"{sum(int(np.prod(weight.shape)) for weight in model.trainable_weights):,}" == parameters
    assert f"{inspect(tflite.convert(lower(model), 'float32'))['total_macs'] / 1e6:.1f}" == macs
