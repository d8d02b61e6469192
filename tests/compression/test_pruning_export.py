"""Zeros of a pruned model are zeros in its .tflite file."""

import keras
import numpy as np
import pytest

import hsvit_keras

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from hsvit_runtime.litert import tflite_file

pytestmark = pytest.mark.tensorflow


def test_zeros_are_kept_in_8_bits(tmp_path):
    model = hsvit_keras.create_model("hsvit_tiny", input_shape=(32, 32, 1), depth=1)
    model.compile("sgd")
    callback = hsvit_keras.prune(model, hsvit_keras.ConstantSparsity(0.75, 0))
    callback.set_model(model)
    callback.on_train_begin()
    expected = hsvit_keras.sparsity_report(model)
    output = tmp_path / "model.tflite"
    hsvit_keras.to_tflite(model, output, preset="dynamic")

    ops = tflite_file.read(output.read_bytes(), output.name).subgraphs[0].ops
    kernels = {op.inputs[1].buffer: op.inputs[1] for op in ops if op.kind in ("CONV_2D", "FULLY_CONNECTED")}
    arrays = [np.frombuffer(kernel.data, kernel.dtype) for kernel in kernels.values()]
    assert {array.dtype.name for array in arrays} == {"int8", "float32"}  # the smallest kernels stay float32
    assert sum(array.size for array in arrays) == expected["weights"]
    zeros = sum(np.count_nonzero(array == 0) for array in arrays)
    assert expected["zeros"] <= zeros < 1.02 * expected["zeros"]  # rounding to 8 bits makes a few more zeros
