"""ONNX files answer in ONNX Runtime as Keras does: every family, every preset, any batch.

A new family is covered by registering it, see `tests.models.small`.
"""

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from tests.models.running import images
from tests.models.small import a_few, grown_model
from tests.parameters import slow_but

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

import onnx

from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.artifacts.onnx_conversion import convert
from hsvit_keras.compression.quantized_layers import RoundedKernel
from hsvit_keras.compression.ranges import ranges_of
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError
from hsvit_runtime.onnx_model import OnnxModel

pytestmark = pytest.mark.tensorflow


def trained_model(name):
    """A small model whose biases, class tokens and positions are not the zeros of a fresh one."""
    keras.utils.set_random_seed(0)
    model = grown_model(name)
    rng = np.random.default_rng(0)
    for weight in model.trainable_weights:
        if weight.name in ("bias", "beta"):
            weight.assign(rng.uniform(-0.1, 0.1, weight.shape))
    return model


def cosine(one, other):
    return np.sum(one * other) / (np.linalg.norm(one) * np.linalg.norm(other))


@pytest.mark.parametrize("name", a_few())
def test_every_family_with_a_free_batch(name):
    model = trained_model(name)
    given = images(model, 5)
    expected = np.asarray(model(given, training=False))
    content = convert(lower(model, None))
    parsed = onnx.load_from_string(content)
    onnx.checker.check_model(parsed, full_check=True)
    assert [(entry.domain, entry.version) for entry in parsed.opset_import if entry.domain == ""] == [
        ("", 17)
    ]
    for value in (parsed.graph.input[0], parsed.graph.output[0]):
        assert value.type.tensor_type.shape.dim[0].dim_param == "batch"
    converted = OnnxModel(content)
    assert [(x.name, x.shape) for x in converted.inputs] == [("image", (None, *model.input_shape[1:]))]
    assert [(y.name, y.shape) for y in converted.outputs] == [("logits", model.output_shape)]
    together = converted.run({"image": given})["logits"]
    assert np.abs(together - expected).max() <= 1e-4 * np.abs(expected).max()
    first = converted.run({"image": given[:1]})["logits"]
    np.testing.assert_allclose(first, together[:1], atol=1e-5 * np.abs(expected).max())


@pytest.fixture(scope="module", params=slow_but(["hsvit_c2a2"], ["hsvit_c2a2", "deit_base"]))
def trained(request):
    return trained_model(request.param)


def test_float16(trained):
    given, content = images(trained, 5), convert(lower(trained), preset="float16")
    halves, singles = (constants(content, kind) for kind in ("float16", "float32"))
    assert sum(map(np.size, halves)) > 10 * sum(map(np.size, singles))
    assert max(map(np.size, singles)) < 32  # such as an epsilon
    answers = OnnxModel(content).predict({"image": given})["logits"]
    assert cosine(answers, np.asarray(trained(given, training=False))) >= 0.9999


def constants(content, dtype):
    """The constants of a file that have a dtype."""
    tensors = map(onnx.numpy_helper.to_array, onnx.load_from_string(content).graph.initializer)
    return [tensor for tensor in tensors if tensor.dtype == dtype]


def test_weights_beyond_half_precision():
    model = keras.Sequential([keras.Input((4, 4, 3)), layers.Flatten(), layers.Dense(2)], name="large")
    model.layers[1].kernel.assign(np.full((48, 2), 7e4, "float32"))
    with pytest.raises(InputError, match=r"^float16 cannot hold the weight '.*': 7e\+04 is above 65504$"):
        convert(lower(model), preset="float16")


@pytest.fixture(scope="module")
def quantized(trained):
    """(quantized model, the content of its file of 8 bits)."""
    model = hsvit_keras.calibrate(trained, [images(trained, 8)])
    return model, convert(lower(model, None), preset="int8")


def test_int8_answers_as_the_quantized_model(quantized):
    model, content = quantized
    given = images(model, 8)
    answers = OnnxModel(content).run({"image": given})["logits"]
    assert cosine(answers, np.asarray(model(given, training=False))) >= 0.999


def test_int8_rounds_the_kernels_that_training_rounded(quantized):
    """Each of them to the same integers, and no other."""
    model, content = quantized
    kernels = [values for values in constants(content, "int8") if values.ndim > 1]
    expected = [layer.integer_kernel() for layer in model.layers if isinstance(layer, RoundedKernel)]
    assert sorted(sorted(kernel.ravel()) for kernel in kernels) == sorted(
        sorted(kernel.ravel()) for kernel in expected
    )


def test_int8_has_the_ranges_of_the_model(quantized):
    """Each of them is the scale and the zero point of a tensor, and there is no other."""
    model, content = quantized
    graph = onnx.load_from_string(content).graph
    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    found = {
        tuple(values[name].item() for name in node.input[1:])
        for node in graph.node
        if node.op_type == "QuantizeLinear"
    }
    expected = set()
    for layer in ranges_of(model):
        low, high = (float(bound) for bound in layer.bounds())
        expected.add(((high - low) / 255, round(-low / ((high - low) / 255))))
    assert [zero_point for _, zero_point in sorted(found)] == [point for _, point in sorted(expected)]
    np.testing.assert_allclose([s for s, _ in sorted(found)], [s for s, _ in sorted(expected)], rtol=1e-6)


def test_int8_computes_with_integers(quantized, tmp_path):
    """ONNX Runtime takes every kernel as one of its operations on integers."""
    import onnxruntime

    model, content = quantized
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath, options.log_severity_level = str(tmp_path / "optimized.onnx"), 3
    onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    running = [node.op_type for node in onnx.load(tmp_path / "optimized.onnx").graph.node]
    integer = ("QLinearConv", "QGemm", "QLinearMatMul", "MatMulIntegerToFloat")
    kernels = [layer for layer in model.layers if isinstance(layer, RoundedKernel)]
    assert sum(running.count(name) for name in integer) == len(kernels)


def test_convolutions_in_groups():
    """Keras has XLA compile them, out of the converter's sight; integers keep their ReLU6, too."""
    model = keras.Sequential(
        [
            keras.Input((8, 8, 4), name="image"),
            layers.Conv2D(6, 3, groups=2, bias_initializer="normal"),
            layers.ReLU(6.0),
            layers.DepthwiseConv2D(3, depth_multiplier=2, bias_initializer="normal"),
            layers.Flatten(),
            layers.Dense(3),
        ]
    )
    given = images(model, 4)
    content = convert(lower(model))
    convolutions = [node for node in onnx.load_from_string(content).graph.node if node.op_type == "Conv"]
    assert [{a.name: a.i for a in node.attribute}.get("group") for node in convolutions] == [2, 6]
    expected = np.asarray(model(given, training=False))
    answers = OnnxModel(content).predict({"image": given})["logits"]
    np.testing.assert_allclose(answers, expected, atol=1e-5 * np.abs(expected).max())
    quantized = hsvit_keras.calibrate(model, [given])
    answers = OnnxModel(convert(lower(quantized), preset="int8")).predict({"image": given})["logits"]
    assert cosine(answers, np.asarray(quantized(given, training=False))) >= 0.999


def test_names_and_description():
    """Outputs are called as the model's dict calls them, and the file says what it is."""
    left, right = keras.Input((4, 4, 1), name="left"), keras.Input((2,), name="right")
    sums = {"scores": layers.Dense(3)(layers.Flatten()(left)), "boxes": layers.Dense(4)(right)}
    model = keras.Model([left, right], sums, name="two")
    description = Description("tensors", ("a", "b", "c"), "pets", (0.0, 255.0))
    content = convert(lower(model, 2), description=description)
    parsed = onnx.load_from_string(content)
    assert (parsed.producer_name, parsed.producer_version) == ("hsvit_keras", hsvit_keras.__version__)
    converted = OnnxModel(content)
    assert converted.description == description
    assert {(x.name, x.shape) for x in converted.inputs} == {("left", (2, 4, 4, 1)), ("right", (2, 2))}
    given = {"left": np.ones((2, 4, 4, 1), "float32"), "right": np.eye(2, dtype="float32")}
    answers, expected = converted.run(given), model([given["left"], given["right"]])
    assert answers.keys() == sums.keys()
    for name, answer in answers.items():
        np.testing.assert_allclose(answer, expected[name], rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def dense():
    return keras.Sequential(
        [keras.Input((4, 4, 3), name="image"), layers.Flatten(), layers.Dense(3, name="scores")], name="dense"
    )


@pytest.mark.parametrize(
    ("description", "name"),
    [
        (Description("classification"), "logits"),
        (Description("classification", probabilities=True), "probabilities"),
    ],
)
def test_what_an_output_is_called(dense, description, name):
    (output,) = OnnxModel(convert(lower(dense), description=description)).outputs
    assert output.name == name


def test_other_opsets(dense):
    parsed = onnx.load_from_string(convert(lower(dense), opset=18))
    assert [entry.version for entry in parsed.opset_import if entry.domain == ""] == [18]
    with pytest.raises(InputError, match=r"^opset has to be 17 to 18; received opset=12$"):
        convert(lower(dense), opset=12)


def test_a_preset_that_does_not_fit(dense):
    with pytest.raises(InputError, match=r"^preset has to be one of float32, .*; received preset='int4'$"):
        convert(lower(dense), preset="int4")
    with pytest.raises(InputError, match=r"^preset='int8' needs ranges of activations, and 'dense'"):
        convert(lower(dense), preset="int8")
    quantized = hsvit_keras.calibrate(dense, [images(dense)])
    with pytest.raises(InputError, match=r"^'dense' is quantized, and preset='float16' is not: "):
        convert(lower(quantized), preset="float16")


@keras.saving.register_keras_serializable("tests")
class InverseErrorFunction(layers.Layer):
    """An operation that ONNX does not have."""

    def call(self, inputs):
        return keras.ops.erfinv(inputs)


def test_an_operation_that_onnx_lacks():
    model = keras.Sequential([keras.Input((8, 8, 1)), InverseErrorFunction(), layers.Flatten()], name="odd")
    with pytest.raises(InputError, match=r"^ONNX cannot hold 'odd' at opset 17: .* no operation for Erfinv$"):
        convert(lower(model))
