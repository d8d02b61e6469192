"""The callback of `prune`: zeros after each step, resumed runs, and the saved file."""

import gzip
import zipfile

import keras
import numpy as np
import pytest
from keras import layers

import hsvit_keras
from hsvit_keras import ConstantSparsity, PolynomialDecay, prune, sparsity_report
from hsvit_keras.compression.graph import Graph
from tests.models import small

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(24, 4, 4, 2)).astype("float32")
LABELS = RNG.integers(0, 3, 24)
STEPS = 6  # in an epoch, of batches of 4
LINEAR_DECAY = PolynomialDecay(0.25, 0.75, begin_step=2, end_step=8, power=1, frequency=3)
HALF = ConstantSparsity(0.5, begin_step=0)
# Tracing a training step takes longer than running a few; JAX would compile each operation on its own.
RUN_EAGERLY = keras.backend.backend() == "tensorflow"


def classifier(optimizer=None, head=None, **compiling):
    """A model with 48 weights in a convolution and 162 in a Dense layer, compiled."""
    model = keras.Sequential(
        [
            keras.Input((4, 4, 2)),
            layers.Conv2D(6, 2, activation="relu", name="convolution"),
            layers.Flatten(),
            layers.Dense(3, name="head", **head or {}),
        ],
        name="classifier",
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    compiling = {"run_eagerly": RUN_EAGERLY, **compiling}
    model.compile(optimizer or keras.optimizers.SGD(0.1, momentum=0.9), loss, **compiling)
    return model


class NonzeroRecorder(keras.callbacks.Callback):
    """Records which weights are not zero, at the start and after each step."""

    def on_train_begin(self, logs=None):
        self.kept = [masks(self.model)]

    def on_train_batch_end(self, batch, logs=None):
        self.kept.append(masks(self.model))

    def zeros(self, layer):
        """The number of zeros, at first and after each step."""
        return [int((~kept[layer]).sum()) for kept in self.kept]


def masks(model):
    return {layer.name: np.asarray(layer.kernel) != 0 for layer in model.layers if hasattr(layer, "kernel")}


def fit(model, *callbacks, epochs=1, **settings):
    recorder = NonzeroRecorder()
    callbacks = [*callbacks, recorder]
    settings = {"batch_size": 4, "epochs": epochs, "shuffle": False, "verbose": 0, **settings}
    model.fit(IMAGES, LABELS, callbacks=callbacks, **settings)
    return recorder


def begin(model, schedule=HALF, **options):
    """Applies the first masks, without training."""
    callback = prune(model, schedule, **options)
    if not model.compiled:
        model.compile("sgd", "mse")
    callback.set_model(model)
    callback.on_train_begin()
    return model


def sparsities(model):
    return {row["name"]: row["sparsity"] for row in sparsity_report(model)["layers"]}


@pytest.mark.parametrize(
    ("optimizer", "compiling"),
    [
        (keras.optimizers.SGD(0.1, momentum=0.9), {"jit_compile": True, "run_eagerly": False}),
        (keras.optimizers.AdamW(0.01, weight_decay=0.1), {}),
    ],
    ids=["SGD compiled", "AdamW"],
)
def test_follows_the_schedule(optimizer, compiling):
    model = classifier(optimizer, **compiling)
    before = model.get_weights()
    recorder = fit(model, prune(model, LINEAR_DECAY), epochs=2)
    assert recorder.zeros("convolution") == [0] * 2 + [12] * 3 + [24] * 3 + [36] * 5
    assert recorder.zeros("head") == [0] * 2 + [40] * 3 + [81] * 3 + [122] * 5  # 40.5 and 121.5 to even
    for first, last in ((2, 4), (5, 7), (8, 12)):  # a mask is kept until the next one
        for step in range(first, last):
            for layer, kept in recorder.kept[step].items():
                np.testing.assert_array_equal(kept, recorder.kept[step + 1][layer])
    for old, new in zip(before, model.get_weights(), strict=True):
        assert (old != new).all()


def test_prunes_before_the_first_step():
    model = classifier()
    smallest = np.abs(model.get_weights()[0]).ravel().argsort()[:24]
    recorder = fit(model, prune(model, HALF))
    assert recorder.zeros("convolution") == [24] * (1 + STEPS)
    assert set(np.flatnonzero(~recorder.kept[0]["convolution"])) == set(smallest)


def test_pruned_weights_are_zero_at_the_start_of_every_step():
    """Equals masking the weights by hand before each training step."""
    model, by_hand = classifier(), classifier()
    by_hand.set_weights(model.get_weights())
    model.fit(IMAGES, LABELS, 4, epochs=1, shuffle=False, verbose=0, callbacks=[prune(model, HALF)])

    weights = by_hand.get_weights()
    kept = [np.ones(array.shape, bool) for array in weights]
    for number in (0, 2):
        size = np.abs(weights[number])
        kept[number] = size >= np.sort(size.ravel())[size.size // 2]
    for start in range(0, len(IMAGES), 4):
        by_hand.set_weights([np.where(mask, array, 0) for mask, array in zip(kept, weights, strict=True)])
        by_hand.train_on_batch(IMAGES[start : start + 4], LABELS[start : start + 4])
        weights = by_hand.get_weights()
    for array, mask, expected in zip(model.get_weights(), kept, weights, strict=True):
        np.testing.assert_allclose(array, np.where(mask, expected, 0), rtol=1e-5, atol=1e-6)


def test_a_second_fit_continues_the_schedule():
    model = classifier()
    callback = prune(model, LINEAR_DECAY)
    assert fit(model, callback).zeros("head")[-1] == 81
    recorder = fit(model, callback)
    assert recorder.zeros("head") == [81] * 2 + [122] * 5


def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path):
    """The run is resumed from a file between two masks; the weights are equal bit for bit."""
    whole = classifier()
    start = whole.get_weights()
    fit(whole, prune(whole, LINEAR_DECAY), epochs=2)

    first = classifier()
    first.set_weights(start)
    fit(first, prune(first, LINEAR_DECAY))
    first.save(tmp_path / "half.keras")
    second = keras.models.load_model(tmp_path / "half.keras")
    recorder = fit(second, prune(second, LINEAR_DECAY), initial_epoch=1, epochs=2)

    assert recorder.zeros("head") == [81] * 2 + [122] * 5
    for expected, weights in zip(whole.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_array_equal(weights, expected)


def test_zeros_are_kept_with_a_new_optimizer_before_begin_step():
    model = begin(classifier())
    model.compile("adam", "sparse_categorical_crossentropy")
    recorder = fit(model, prune(model, ConstantSparsity(0.75, begin_step=4)))
    assert recorder.zeros("convolution") == [24] * 4 + [36] * 3
    for kept in recorder.kept[:4]:
        np.testing.assert_array_equal(kept["convolution"], recorder.kept[0]["convolution"])


def test_without_a_schedule_zeros_are_kept():
    model = begin(classifier(), skip="head")
    recorder = fit(model, prune(model, None))
    assert recorder.zeros("convolution") == [24] * (1 + STEPS)
    assert recorder.zeros("head") == [0] * (1 + STEPS)


def test_a_kernel_initialized_with_zeros_is_trained():
    model = classifier(head={"kernel_initializer": "zeros"})
    recorder = fit(model, prune(model, ConstantSparsity(0.5, begin_step=3)))
    zeros = recorder.zeros("head")
    assert zeros[0] == 162
    assert zeros[2] < 20  # inputs that are always 0 after the ReLU have no gradient
    assert zeros[3:] == [81] * 4


def test_several_steps_per_execution():
    """A scheduled step within an execution takes effect at the end of the execution."""
    model = classifier(steps_per_execution=3)
    recorder = fit(model, prune(model, ConstantSparsity(0.5, begin_step=2, end_step=2)))
    assert recorder.zeros("convolution") == [0, 24, 24]


def test_accumulated_gradients_are_one_step():
    model = classifier(keras.optimizers.SGD(0.1, gradient_accumulation_steps=2))
    recorder = fit(model, prune(model, ConstantSparsity(0.5, begin_step=2, end_step=2)))
    assert recorder.zeros("convolution") == [0] * 4 + [24] * 3


def test_loss_scale_optimizer():
    inner = keras.optimizers.SGD(0.1, gradient_accumulation_steps=2)
    model = classifier(keras.optimizers.LossScaleOptimizer(inner))
    recorder = fit(model, prune(model, ConstantSparsity(0.5, begin_step=2, end_step=2)))
    assert recorder.zeros("convolution") == [0] * 4 + [24] * 3


def test_averaged_weights():
    """Weights are masked after the optimizer has replaced them by their moving averages, too."""
    model = classifier(keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5))
    recorder = fit(model, prune(model, LINEAR_DECAY), epochs=2)
    for layer, kept in masks(model).items():
        np.testing.assert_array_equal(kept, recorder.kept[-1][layer])


@pytest.mark.parametrize(
    ("dtype", "variable_dtype"), [("mixed_bfloat16", "float32"), ("bfloat16", "bfloat16")]
)
def test_half_precision(dtype, variable_dtype):
    model = keras.Sequential([keras.Input((20,)), layers.Dense(10, dtype=dtype, name="dense")])
    before = model.get_weights()[0].astype("float32")
    begin(model)
    after = np.asarray(model.get_weights()[0]).astype("float32")
    assert model.layers[0].kernel.dtype == variable_dtype
    kept = after != 0
    assert kept.sum() == 100
    np.testing.assert_array_equal(after[kept], before[kept])
    assert np.abs(before[kept]).min() >= np.abs(before[~kept]).max()


def test_infinite_weights_do_not_spread():
    model = classifier()
    weights = model.get_weights()
    weights[2][:] = np.inf
    model.set_weights(weights)
    begin(model)
    assert not np.isnan(model.get_weights()[2]).any()
    assert sparsities(model)["head"] == 0.5


def test_two_of_four_inputs_are_kept():
    inputs = keras.Input((5, 3, 8))
    groups = layers.EinsumDense("btgd,gde->btge", (None, 3, 6), name="groups")(inputs)
    model = begin(keras.Model(inputs, layers.Conv2D(5, 1, name="convolution")(groups)), pattern="2:4")
    kept = np.asarray(model.get_layer("groups").kernel) != 0
    assert (kept.reshape(3, 2, 4, 6).sum(axis=2) == 2).all()
    assert (np.asarray(model.get_layer("convolution").kernel)[0, 0, :4] != 0).sum(axis=0).tolist() == [2] * 5


def test_kernels_smaller_than_a_block_are_not_pruned():
    model = begin(classifier(), pattern=(3, 3))
    assert sparsities(model) == {"convolution": 0.0, "head": 0.5}  # 2 inputs are less than 3
    rows = (np.asarray(model.get_layer("head").kernel) != 0).reshape(18, 9).sum(axis=1)
    assert sorted(rows) == [0] * 9 + [9] * 9


def test_one_threshold_over_all_layers():
    model = begin(classifier(), scope="global")
    found = sparsities(model)
    assert sparsity_report(model)["sparsity"] == 0.5
    assert found["convolution"] != pytest.approx(0.5, abs=0.05)  # scores are relative to the layer


@pytest.mark.slow_on_jax
def test_with_quantization():
    model = hsvit_keras.quantize_aware(classifier())
    hsvit_keras.calibrate(model, [IMAGES])
    model.compile(keras.optimizers.AdamW(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    recorder = fit(model, prune(model, LINEAR_DECAY), epochs=2)
    assert recorder.zeros("convolution")[-5:] == [36] * 5
    assert sparsities(hsvit_keras.remove_quantization(model)) == sparsities(model)
    assert sparsities(model)["convolution"] == 0.75


def test_the_file_contains_only_the_model(tmp_path):
    model = classifier()
    variables = [(variable.name, variable.shape) for variable in model.variables]
    fit(model, prune(model, HALF))
    model.save(tmp_path / "model.keras")
    with zipfile.ZipFile(tmp_path / "model.keras") as file:
        config = file.read("config.json").decode()
    assert "hsvit" not in config  # only stock layers
    assert "mask" not in config
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert [(variable.name, variable.shape) for variable in loaded.variables] == variables
    assert [type(layer) for layer in loaded.layers] == [type(layer) for layer in model.layers]
    for old, new in zip(model.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    assert sparsities(loaded) == {"convolution": 0.5, "head": 0.5}


@pytest.mark.once
@pytest.mark.parametrize("name", small._one_a_class(small.MODELS))
def test_every_family(name):
    model = small.small_model(name)
    graph = Graph(model)
    convolved = {graph.path(layer): layer.kernel for layer in graph.layers if hasattr(layer, "kernel")}
    begin(model)
    found = sparsities(model)
    assert set(found) <= set(convolved)
    for layer, sparsity in found.items():
        assert sparsity == pytest.approx(0.5, abs=0.5 / convolved[layer].shape[-1])
    report = sparsity_report(model)
    assert report["weights"] > 0.5 * model.count_params()


def test_report():
    model = classifier()
    weights = model.get_weights()
    weights[0].ravel()[:12] = 0
    weights[2][:] = 0
    model.set_weights(weights)
    report = sparsity_report(model)
    assert report["layers"] == [
        {"name": "convolution", "weights": 48, "zeros": 12, "sparsity": 0.25},
        {"name": "head", "weights": 162, "zeros": 162, "sparsity": 1.0},
    ]
    assert (report["weights"], report["zeros"], report["sparsity"]) == (210, 174, 174 / 210)
    assert report["bytes"] == 4 * model.count_params()
    content = b"".join(array.tobytes() for array in model.get_weights())
    assert report["zipped_bytes"] == len(gzip.compress(content, 6))


def test_zeros_compress_well():
    dense, sparse = classifier(), begin(classifier(), ConstantSparsity(0.9, 0))
    assert sparsity_report(sparse)["zipped_bytes"] < 0.4 * sparsity_report(dense)["zipped_bytes"]


def test_prints_the_sparsity_at_the_end_of_training(capsys):
    model = classifier()
    callback = prune(model, HALF)
    callback.set_model(model)
    callback.on_train_begin()
    for verbose in (0, 2):
        callback.set_params({"verbose": verbose})
        callback.on_train_end()
        printed = capsys.readouterr().out
        assert bool(printed) == bool(verbose)
    lines = printed.splitlines()
    assert lines[0].split() == ["convolution", "48", "weights", "50.00%", "zeros"]
    assert lines[2].split() == ["all", "kernels", "210", "weights", "50.00%", "zeros"]
    assert "bytes, zipped" in lines[3]
    assert "inference on phones no faster" in lines[4]
    assert "slim()" in lines[4]


def test_fit_of_another_model():
    model, other = classifier(), classifier()
    with pytest.raises(
        ValueError, match=r"made to prune 'classifier', but fit runs on another model, 'classifier': call"
    ):
        fit(other, prune(model, HALF))


def no_kernels():
    return keras.Sequential([keras.Input((4, 4, 2)), layers.DepthwiseConv2D(2)], name="thin")


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (no_kernels, {}, "'thin' has nothing to prune: no kernel of a convolution, Dense or EinsumDense"),
        (classifier, {"skip": ["convolution", "head"]}, r"except those of skip=\['convolution', 'head'\]"),
        (classifier, {"skip": "heads"}, "skip names 'heads', but 'classifier' has no such layer"),
        (
            classifier,
            {"pattern": (60, 1)},
            r"pattern \(60, 1\) fits no kernel .*are \[\(2, 6\), \(54, 3\)\]",
        ),
        (classifier, {"pattern": "3:64"}, "pattern '3:64' fits no kernel of 'classifier'"),
        (classifier, {"pattern": "1:4"}, "pattern '1:4' has a sparsity of 0.75, .* it ends at 0.5"),
        (classifier, {"pattern": "rows"}, "pattern has to be 'weight', a block"),
        (classifier, {"scope": "all"}, "scope has to be 'layer' or 'global'; received 'all'"),
        (classifier, {"schedule": lambda step: (True, 1.0)}, "at least 0 and less than 1; .* returned 1.0"),
    ],
)
def test_wrong_values(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        prune(make(), **{"schedule": HALF, **arguments})


@pytest.mark.parametrize(
    "schedule",
    [0.5, lambda step: 0.5, keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)],
    ids=["number", "one value", "learning rate"],
)
def test_not_a_schedule(schedule):
    with pytest.raises(TypeError, match=r"function from the step to \(should_prune, sparsity\), .*received"):
        prune(classifier(), schedule)


def test_a_schedule_whose_sparsity_is_wrong_later():
    model = classifier()
    callback = prune(model, lambda step: (True, 0.5 if step != 3 else -0.5))
    with pytest.raises(ValueError, match=r"returned -0\.5 at step 3"):
        fit(model, callback)
