"""The description of a model is kept by every pass and in saved files."""

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.compression.folding import fold_normalization
from hsvit_keras.compression.rewriting import with_dtype
from hsvit_keras.layers.model_description import description_of
from hsvit_runtime.description import Description
from hsvit_runtime.resizing import Resizing
from tests.models.small import small_model

NAMES = ("ant", "bee", "crab", "dog", "eel")
DESCRIPTION = Description("classification", NAMES, "zoo", (0, 255), resizing=Resizing("bicubic", 9))


@pytest.fixture(scope="module")
def model():
    return small_model(
        "hsvit_c2a2", depth=1, mean=0.3, std=0.35, class_names=NAMES, data_set="zoo",
        resizing={"filter": "bicubic", "size": 9},
    )  # fmt: skip


def pruned(model):
    copy = with_dtype(model, "float32")
    copy.compile("sgd")
    callback = hsvit_keras.prune(copy, hsvit_keras.ConstantSparsity(0.5, 0))
    callback.set_model(copy)
    callback.on_train_begin()
    return copy


PASSES = {
    "unchanged": lambda model: model,
    "folded": hsvit_keras.fold_batch_norm,
    "normalization folded": fold_normalization,
    "half precision": lambda model: with_dtype(model, "mixed_bfloat16"),
    "slimmed": lambda model: hsvit_keras.slim(model, groups=2),
    "quantized": hsvit_keras.quantize_aware,
    "quantization removed": lambda model: hsvit_keras.remove_quantization(hsvit_keras.quantize_aware(model)),
    "pruned": pruned,
}


@pytest.mark.parametrize("name", PASSES)
def test_passes(name, model):
    assert description_of(PASSES[name](model)) == DESCRIPTION


def test_the_head_of_shards_has_the_description(model):
    """The outputs of the head are the classes; the inputs of the parts are pixels."""
    parts, head = hsvit_keras.shard(model, 2)
    found = description_of(head)
    assert (found.task, found.class_names, found.data_set) == ("classification", NAMES, "zoo")
    pixels = np.random.default_rng(0).integers(0, 256, (2, *model.input_shape[1:])).astype("float32")
    tokens = keras.ops.concatenate([part(pixels, training=False) for part in parts], axis=1)
    np.testing.assert_allclose(
        keras.ops.convert_to_numpy(head(tokens)),
        keras.ops.convert_to_numpy(model(pixels, training=False)),
        atol=1e-5,
    )


@pytest.mark.parametrize("name", ["unchanged", "slimmed", "quantized"])
def test_saved_files(name, model, tmp_path):
    PASSES[name](model).save(tmp_path / "model.keras")
    assert description_of(keras.models.load_model(tmp_path / "model.keras")) == DESCRIPTION
