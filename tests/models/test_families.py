"""What holds for every registered model; a new family is covered by registering it."""

import contextlib
import functools
import inspect
import subprocess
import sys

import keras
import numpy as np
import pytest

import hsvit_keras
from tests.models.running import ON_JAX, images, outputs
from tests.models.small import MODELS, each_kind, small_model

NAMES = list(each_kind())
WITHOUT_INFLUENCE = (
    "key/bias",  # softmax cancels it
    # of CvT: the class token alone is read of the last block's queries
    "stage1_block1_attention_query_conv/kernel",
    "stage1_block1_attention_query_conv_norm/gamma",
    "stage1_block1_attention_query_conv_norm/beta",
    "attention/score",  # of SwiftFormer, whose class in transformers does not read it
)
IN_FLOAT32 = {"DeformableDETR": ("box_output", "reference_points")}  # of half precision are not its boxes


@functools.cache
def built(name):
    """The small form of a model, some images, and its outputs; tests leave its weights as they are."""
    model = small_model(name)
    given = images(model, 8)
    return model, given, outputs(model, given)


@contextlib.contextmanager
def weights_kept(model):
    """The weights behind the block are those in front of it."""
    weights = model.get_weights()
    yield
    model.set_weights(weights)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_finite_and_those_of_each_image_alone(name):
    model, given, together = built(name)
    alone = [outputs(model, image[None]) for image in given[:2]]
    for output, whole, *parts in zip(
        model.outputs, *map(keras.tree.flatten, (together, *alone)), strict=True
    ):
        assert whole.shape == (8, *output.shape[1:])
        assert np.isfinite(whole).all()
        np.testing.assert_allclose(np.concatenate(parts), whole[:2], rtol=1e-4, atol=1e-5)


def loss_and_targets(model):
    """Those of four images: classes of a model of logits, numbers of one with several outputs."""
    if isinstance(model.output, dict):
        return "mean_squared_error", {key: np.ones((4, *x.shape[1:])) for key, x in model.output.items()}
    _, *places, _ = model.output_shape
    classes = np.arange(4 * np.prod(places, dtype=int)) % 4
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True), classes.reshape(4, *places)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name", NAMES)
def test_every_weight_learns(name):
    model, given, _ = built(name)
    with weights_kept(model):
        before = [keras.ops.convert_to_numpy(weight) for weight in model.trainable_weights]
        detects = isinstance(model, hsvit_keras.DeformableDETR)
        trained = hsvit_keras.with_auxiliary_outputs(model) if detects else model
        loss, targets = loss_and_targets(trained)
        trained.compile(keras.optimizers.SGD(1.0), loss, run_eagerly=not ON_JAX)
        loss = trained.train_on_batch(given[:4], targets)
        after = [keras.ops.convert_to_numpy(weight) for weight in model.trainable_weights]
    assert np.isfinite(loss).all()
    still = [
        weight.path
        for weight, old, new in zip(model.trainable_weights, before, after, strict=True)
        if np.array_equal(new, old)
    ]
    assert [path for path in still if not path.endswith(WITHOUT_INFLUENCE)] == []


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_config_holds_every_argument(name):
    model, _, _ = built(name)
    config = model.get_config()
    arguments = set(inspect.signature(type(model).__init__).parameters) - {"self", "kwargs"}
    assert arguments <= set(config)
    copy = type(model).from_config(config)
    assert copy.get_config() == config
    assert [weight.shape for weight in copy.weights] == [weight.shape for weight in model.weights]


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_clone(name):
    model, given, expected = built(name)
    copy = keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    keras.tree.map_structure(np.testing.assert_array_equal, outputs(copy, given), expected)


@pytest.mark.slow
@pytest.mark.slow_on_jax
@pytest.mark.parametrize(
    "policy", ["mixed_bfloat16", pytest.param("mixed_float16", marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("name", NAMES)
def test_half_precision(name, policy):
    model, given, expected = built(name)
    low = small_model(name, dtype=policy)
    low.set_weights(model.get_weights())
    assert keras.config.dtype_policy().name == "float32"  # the argument is for this model alone
    assert all(weight.dtype == "float32" for weight in low.weights)
    in_float32 = IN_FLOAT32.get(type(low).__name__, ())
    assert {
        layer.compute_dtype for layer in low.layers if layer.weights and not layer.name.endswith(in_float32)
    } == {policy.removeprefix("mixed_")}
    for one, other in zip(*map(keras.tree.flatten, (expected, outputs(low, given))), strict=True):
        assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.99


@pytest.mark.once
def test_the_policy_is_in_the_config():
    low = small_model("hsvit_tiny", dtype="mixed_bfloat16")
    copy = type(low).from_config(low.get_config())
    assert {layer.compute_dtype for layer in copy.layers} == {layer.compute_dtype for layer in low.layers}


LOAD = """
import sys, keras, numpy as np
import hsvit_keras
folder = sys.argv[1]
for name in sys.argv[2:]:
    model = keras.models.load_model(f"{folder}/{name}.keras")
    saved = np.load(f"{folder}/{name}.npz")
    weights = {weight.path: np.asarray(weight) for weight in model.weights}
    found = weights | {"images": saved["images"]}
    if any(key.startswith("output") for key in saved):
        outputs = keras.tree.flatten(model(saved["images"], training=False))
        found |= {f"output{i}": np.asarray(output) for i, output in enumerate(outputs)}
    assert found.keys() == set(saved) and all(np.array_equal(found[key], saved[key]) for key in found), name
    print(type(model).__name__, name)
"""


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_saved_models_load_in_a_fresh_process(tmp_path):
    """`import hsvit_keras` is enough: no custom_objects. On JAX weights stand for outputs, see `outputs`.

    Models whose class and layers others have, too, are left out.
    """
    names, saved_classes = [], set()
    for name in MODELS:
        model, given, _ = built(name)
        classes = {type(model), *map(type, model.layers)}
        if classes <= saved_classes:
            continue
        saved_classes |= classes
        with weights_kept(model):
            model.set_weights([weight + 0.1 for weight in model.get_weights()])  # none is as it starts
            forms = {name: model}
            if any(isinstance(layer, keras.layers.BatchNormalization) for layer in model.layers):
                forms[f"{name}_folded"] = hsvit_keras.fold_batch_norm(model)
            for form, saved in forms.items():
                saved.save(tmp_path / f"{form}.keras")
                content = {weight.path: np.asarray(weight) for weight in saved.weights}
                content["images"] = given[:2]
                if not ON_JAX:
                    found = keras.tree.flatten(outputs(saved, given[:2]))
                    content |= {f"output{i}": output for i, output in enumerate(found)}
                np.savez(tmp_path / f"{form}.npz", **content)
                names.append(form)
    command = [sys.executable, "-c", LOAD, str(tmp_path), *names]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    loaded = [line.split()[1] for line in result.stdout.splitlines() if line.endswith(tuple(names))]
    assert loaded == names
