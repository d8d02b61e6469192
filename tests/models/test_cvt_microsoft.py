"""CvT: sizes of its maps, its activations, and every argument that does not fit."""

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.layers import quick_gelu
from tests.models.running import numpy
from tests.models.small import small_model

WRONG = {
    "heads": ({"num_heads": (3, 2)}, "num_heads=3, that of hidden_dims=8"),
    "stages": ({"depths": (1, 2, 1)}, r"depths=\(1, 2, 1\)"),
    "paddings": ({"embedding_paddings": (2,)}, r"embedding_paddings=\(2,\)"),
    "kernel": ({"projection_kernel": 2}, "projection_kernel=2"),
    "activation": ({"activation": "relu"}, "activation='relu'"),
    "dropout": ({"dropout_rate": 1}, "dropout_rate=1"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(name):
    arguments, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        small_model("cvt_13", **arguments)


@pytest.mark.once
@pytest.mark.parametrize(("side", "sides"), [(64, (17, 9)), (32, (9, 5)), (33, (9, 5))])
def test_sizes_of_the_maps(side, sides):
    model = small_model("cvt_13", input_shape=(side, 32, 3))
    assert tuple(model.get_layer(f"stage{i}_conv").output.shape[1] for i in range(2)) == sides


def test_quick_gelu():
    x = np.linspace(-4, 4, 9, dtype="float32")
    np.testing.assert_allclose(numpy(quick_gelu(x)), x / (1 + np.exp(-1.702 * x)), rtol=1e-5, atol=1e-6)


@pytest.mark.once
def test_the_authors_activation_is_saved(tmp_path):
    model = small_model("cvt_13", activation="quick_gelu")
    assert model.get_layer("stage0_block0_mlp_quick_gelu").activation is quick_gelu
    folded = hsvit_keras.fold_batch_norm(model)
    folded.save(tmp_path / "folded.keras")
    images = np.random.default_rng(0).normal(size=(1, 16, 16, 3)).astype("float32")
    loaded = keras.models.load_model(tmp_path / "folded.keras")
    np.testing.assert_array_equal(numpy(loaded(images)), numpy(folded(images)))
    parts = hsvit_keras.slimmable_parts(model)
    assert set(parts["mlp_units"]) == {
        f"{block}_mlp_hidden" for block in ("stage0_block0", "stage1_block0", "stage1_block1")
    }
