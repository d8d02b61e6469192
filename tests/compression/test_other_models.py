"""Models of keras-hub and keras-cv go through all passes, and compute the same after them."""

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.opening import open_layers
from hsvit_runtime.errors import InputError
from tests.compression import other_models

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # those packages warn of what is theirs
]

# What slimmed models keep, of the kinds of parts that they have.
PARTS = {"heads": 1, "mlp_units": 0.5, "kernels": 0.5}


def outputs(model, images):
    return keras.ops.convert_to_numpy(model(images, training=False))


def assert_same(copy, model, images, folder):
    """Also after saving and loading, for which none of the packages' classes has to be there."""
    expected = outputs(model, images)
    copy.save(folder / "copy.keras")
    for each in (copy, keras.models.load_model(folder / "copy.keras")):
        np.testing.assert_allclose(outputs(each, images), expected, atol=1e-4 * np.abs(expected).max())


def assert_no_norm_behind_convolutions(folded):
    """What is left has another operation before it, as before-activation blocks have."""
    graph = Graph(folded)
    for norm in graph.layers:
        if isinstance(norm, keras.layers.BatchNormalization):
            (source,) = set(graph.producers(norm))
            is_shared = len(graph.consumers(source)) > 1
            assert is_shared or not isinstance(source, keras.layers.Conv2D | keras.layers.DepthwiseConv2D)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=pytest.mark.slow_on_jax if name in other_models.A_FEW else pytest.mark.exhaustive
        )
        for name in other_models.MODELS
    ],
)
def test_passes(name, tmp_path):
    model = other_models.model_named(name)
    images = other_models.images_of(model)
    folded = hsvit_keras.fold_batch_norm(model)
    assert_no_norm_behind_convolutions(folded)
    assert_same(folded, model, images, tmp_path)
    opened = open_layers(model)
    assert_same(opened, model, images, tmp_path)
    assert count_multiply_adds(opened) == count_multiply_adds(model) > 0
    hsvit_keras.prune(model, hsvit_keras.ConstantSparsity(0.5, begin_step=0))
    quantized = hsvit_keras.calibrate(model, [images])
    expected, found = outputs(model, images), outputs(quantized, images)
    assert np.abs(found - expected).max() < 0.1 * np.abs(expected).max()
    assert_same(quantized, quantized, images, tmp_path)
    assert_same(hsvit_keras.remove_quantization(quantized), model, images, tmp_path)
    parts = hsvit_keras.slimmable_parts(model)
    kept = {kind: share for kind, share in PARTS.items() if parts[kind]}
    if kept:
        slimmed = hsvit_keras.slim(model, **kept)
        assert slimmed.count_params() < model.count_params()
        assert_same(slimmed, slimmed, images, tmp_path)


@pytest.mark.once
@pytest.mark.parametrize("make", [other_models.yolo, other_models.retina_net])
def test_detectors_are_refused_with_what_to_do(make):
    detector = make()
    with pytest.raises(InputError, match=r"cannot be copied with its .*take keras\.Model\(model\.inputs"):
        hsvit_keras.fold_batch_norm(detector)
    model = keras.Model(detector.inputs, detector.outputs)
    folded = hsvit_keras.fold_batch_norm(model)
    images = other_models.images_of(model, 2)
    for expected, found in zip(model(images), folded(images), strict=True):
        expected, found = map(keras.ops.convert_to_numpy, (expected, found))
        np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.once
def test_layers_that_could_not_be_loaded_again_are_refused():
    model = other_models.mobile_net_v3()
    images = other_models.images_of(model, 2)
    for make in (
        hsvit_keras.fold_batch_norm,
        open_layers,
        lambda model: hsvit_keras.calibrate(model, [images]),
    ):
        with pytest.raises(InputError, match=r"excite_activation' of class HardSigmoidActivation cannot be"):
            make(model)
