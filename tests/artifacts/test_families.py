"""Every family as an artifact: accelerated whole, with the outputs of Keras and its multiply-adds.

A new family is covered by registering it. A few stand for the others, which `make test-slow` converts. All
tests of a family share its model and its files.
"""

import functools

import keras
import numpy as np
import pytest

from tests.models import small

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

import hsvit_keras
from hsvit_keras.artifacts import comparison, tflite_conversion
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.quantized_layers import RoundedKernel
from hsvit_keras.compression.ranges import ActivationRange
from hsvit_keras.layers import LayerScale
from hsvit_keras.tasks import TASKS
from hsvit_runtime.litert import tflite_file
from hsvit_runtime.presets import PRESETS
from tests.artifacts.running import kernels_of, outputs_of, random_images

pytestmark = pytest.mark.tensorflow

# The converter quantizes weights of 1,024 elements and more; those of the small models have fewer.
WIDER = 16
WIDTHS = ("hidden_dim", "hidden_dims", "head_dim", "head_dims", "mlp_dim")
# With random weights attention averages the signal away and keeps the noise of 8 bits, 1 % a layer: measured
# layer by layer, it grows to 6 % of the logits of hybrid_vil, and to 6.5 % of what is left without their
# mean, which classifiers are compared by; int8 differs from its simulation by up to 5 % of that. A trained
# model has to keep the preset's limit. Where many convolutions follow each other, roundings that fall
# otherwise than in the simulation double with each block, up to the noise of 8 bits itself: measured 10 %. It
# turns one choice in a hundred, which counts less among more images.
DEEP = ("mobilevit_s", "mobilevitv2_050")
LIMITS = {
    "float32": PRESETS["float32"].limits,
    "dynamic": {"cosine": 1 - 0.065**2 / 2},
    "int8": {**PRESETS["int8"].limits, "cosine": 1 - 0.05**2 / 2},
}


# What artifacts leave out: CvT's last queries, but for that of the class token.
UNREAD = ("stage1_block1_attention_query_conv",)


class Family:
    """A family's small models and their files, each made when a test first asks for it."""

    def __init__(self, name, **overrides):
        self.name, self.overrides = name, overrides

    @functools.cached_property
    def model(self):
        """Wide enough for 8-bit weights, which are not those of a fresh model."""
        _, arguments = small._small(self.name)
        widths = [key for key in WIDTHS if key in arguments] or ["filters"]
        wider = {key: np.multiply(arguments[key], WIDER) for key in widths}
        model, rng = small.small_model(self.name, **wider, **self.overrides), np.random.default_rng(0)
        model.set_weights([weight * rng.uniform(0.8, 1.2, weight.shape) for weight in model.get_weights()])
        return model

    @functools.cached_property
    def quantized(self):
        model = small.grown_model(self.name, **self.overrides)
        return hsvit_keras.calibrate(model, [random_images(model)])

    @functools.cached_property
    def lowered(self):
        return lower(self.model)

    @functools.cache  # noqa: B019, a family lives as long as the tests
    def content(self, preset):
        return tflite_conversion.convert(lower(self.quantized) if preset == "int8" else self.lowered, preset)

    @functools.cache  # noqa: B019
    def report(self, preset):
        return hsvit_keras.inspect_tflite(self.content(preset))

    def expected_and_outputs(self, preset):
        model = self.quantized if preset == "int8" else self.model
        images = random_images(model, 4 if preset != "int8" else 64 if self.name in DEEP else 16)
        return np.asarray(model(images, training=False)), outputs_of(self.content(preset), images)


family = functools.cache(Family)


each_family = pytest.mark.parametrize("name", small.a_few())
each_preset = pytest.mark.parametrize("preset", list(LIMITS))


@each_preset
@each_family
def test_accelerated_whole(name, preset):
    assert_accelerated_whole(family(name), preset)


@each_preset
@each_family
def test_computes_what_keras_does(name, preset):
    assert_computes_what_keras_does(family(name), preset)


@pytest.mark.slow
@pytest.mark.parametrize(
    "overrides", [{"separable": True}, {"stem": "split", "image_grid": (2, 1)}], ids=["separable", "parts"]
)
def test_other_stems_of_hsvit(overrides):
    """The quantized model, which is lowered like the others."""
    stem = Family("hsvit_c2a2", **overrides)
    assert_accelerated_whole(stem, "int8")
    assert_computes_what_keras_does(stem, "int8")


def assert_accelerated_whole(family, preset):
    found = family.report(preset)
    assert found["undelegated_ops"] == found["custom_ops"] == found["flex_ops"] == []
    assert (found["partitions"], found["fully_delegated"]) == (1, True)
    graphs = tflite_file.read(family.content(preset), family.name).subgraphs
    assert max(len(tensor.shape) for graph in graphs for tensor in graph.tensors) <= 4


def assert_computes_what_keras_does(family, preset):
    expected, outputs = family.expected_and_outputs(preset)
    compared = comparison.compare_outputs(TASKS["classification"], {"": expected}, {"": outputs})
    limits = LIMITS[preset]
    if preset == "int8" and family.name in DEEP:
        limits = {**limits, "cosine": 1 - 0.12**2 / 2}
    comparison.check(compared, limits)


@each_family
def test_weights_of_8_bits_are_smaller(name):
    assert len(family(name).content("dynamic")) < 0.5 * len(family(name).content("float32"))


@each_family
def test_integer_kernels_are_those_that_the_scheme_rounds(name):
    """And those of averages, and of what scales channels: they become depthwise convolutions."""
    layers = family(name).quantized.layers
    kernels = [layer for layer in layers if isinstance(layer, RoundedKernel) and layer.name not in UNREAD]
    sizes = [int(np.prod(layer.kernel.shape)) for layer in kernels]
    averages = [layer for layer in layers if isinstance(layer, keras.layers.AveragePooling1D)]
    sizes += [layer.pool_size[0] * layer.output.shape[-1] for layer in averages]
    graph = Graph(family(name).quantized)
    for layer in graph.layers:
        ends = (*graph.producers(layer), *graph.consumers(layer))
        if isinstance(layer, keras.layers.BatchNormalization | LayerScale):
            sizes += [layer.output.shape[-1]] * all(isinstance(end, ActivationRange) for end in ends)
    assert kernels_of(family(name).content("int8"))["int8"] == sorted(sizes)


@each_family
def test_the_graph_announces_the_multiply_adds_of_the_artifact(name):
    """Linformer's keys and values are one tensor, unless keys are rotated: it is projected once."""
    announced = count_multiply_adds(family(name).model)
    found = family(name).report("float32")["total_macs"]
    arguments = small._small(name)[1]
    if arguments.get("attention") == "linformer" and not arguments.get("rotary"):
        assert found < announced < 1.05 * found
    else:
        assert found == announced
