"""Batches: their content, their order, that they can be resumed, and that Keras takes them."""

import itertools
import subprocess
import sys
import time
import tracemalloc

import keras
import numpy as np
import pytest

from data_sets import ImageDataset, batches, load_dataset, pipeline, sample_images, steps_per_epoch
from data_sets.crops import CropOfModel
from data_sets.images import ImageFiles
from hsvit_runtime.resizing import Resizing
from tests.data_sets.making import write_image

SHAPE = (4, 4, 1)
PLAIN = {"image_shape": SHAPE}


def numbered(count=10, classes=3, shape=SHAPE):
    """A set whose image i has the value i everywhere."""
    values = np.arange(count, dtype=np.uint8).reshape(count, 1, 1, 1)
    images = np.broadcast_to(values, (count, *shape)).copy()
    labels = np.arange(count, dtype=np.int32) % classes
    return ImageDataset("numbered", "train", tuple("abc"[:classes]), shape, images, labels)


def numbers(batch):
    """Which images of `numbered` are in a batch that was made with `PLAIN`."""
    return batch[0][:, 0, 0, 0].astype(int).tolist()


def assert_same(first, second):
    first, second = list(first), list(second)
    assert len(first) == len(second)
    for (images, labels), (other_images, other_labels) in zip(first, second, strict=True):
        np.testing.assert_array_equal(images, other_images)
        np.testing.assert_array_equal(labels, other_labels)


def noise(images, labels, rng):
    """An augmentation that uses its random numbers for images and labels."""
    return images + rng.normal(size=images.shape), labels[rng.permutation(len(labels))]


# Content.


def test_shapes_and_types():
    result = list(batches(numbered(), batch_size=4, **PLAIN))
    assert [images.shape for images, _ in result] == [(4, *SHAPE), (4, *SHAPE), (2, *SHAPE)]
    for images, labels in result:
        assert images.dtype == np.float32
        assert labels.dtype == np.int32
        assert labels.shape == (len(images),)


def test_unshuffled_order_is_that_of_the_set():
    result = list(batches(numbered(), batch_size=4, epochs=2, **PLAIN))
    assert [numbers(batch) for batch in result] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]] * 2
    assert [batch[1].tolist() for batch in result[:3]] == [[0, 1, 2, 0], [1, 2, 0, 1], [2, 0]]


def test_labels_stay_with_their_images():
    for batch in batches(numbered(), batch_size=3, shuffle=True, epochs=3, **PLAIN):
        assert [number % 3 for number in numbers(batch)] == batch[1].tolist()


def test_pixels_are_given_as_they_are():
    pixels = np.random.default_rng(0).integers(0, 256, (6, 4, 4, 3), dtype=np.uint8)
    dataset = ImageDataset("random", "train", ("a",), (4, 4, 3), pixels, np.zeros(6, np.int32))
    ((images, _),) = batches(dataset, batch_size=6, image_shape=(4, 4, 3))
    np.testing.assert_array_equal(images, pixels)


@pytest.mark.parametrize("low, high", [(0, 1), (-1, 1), (-2.1, 2.6)])
def test_an_input_range_says_what_black_and_white_become(low, high):
    pixels = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1)
    dataset = ImageDataset("greys", "train", ("a",), (16, 16, 1), pixels, np.zeros(1, np.int32))
    options = {"image_shape": (16, 16, 1), "input_range": (low, high)}
    ((images, _),) = batches(dataset, batch_size=1, **options)
    np.testing.assert_allclose(images.ravel(), np.linspace(low, high, 256), atol=1e-6)
    np.testing.assert_array_equal(sample_images(dataset, 1, **options)[0], images)


def masks(count=4):
    """A set for segmentation, whose masks have class 1 in the upper half and class 2 in one pixel."""
    labels = np.zeros((count, 4, 4), np.int32)
    labels[:, :2] = 1
    labels[:, 3, 3] = 2
    images = np.full((count, 4, 4, 1), 7, np.uint8)
    return ImageDataset("masks", "train", tuple("abc"), (4, 4, 1), images, labels, "segmentation")


def test_masks_are_resized_with_their_images_to_the_nearest_neighbour():
    images, labels = next(iter(batches(masks(), batch_size=3, image_shape=(8, 12, 1))))
    assert images.shape == (3, 8, 12, 1)
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(labels, masks(3).labels.repeat(2, axis=1).repeat(3, axis=2))
    _, same = next(iter(batches(masks(), batch_size=3, image_shape=SHAPE)))
    np.testing.assert_array_equal(same, masks(3).labels)
    _, sampled = sample_images(masks(), 2, image_shape=(8, 12, 1))
    np.testing.assert_array_equal(sampled, labels[:2])


def test_masks_of_photos_are_cropped_as_their_photos(tmp_path):
    """The centre of a photo that is twice as wide as high."""
    paths = [str(write_image(tmp_path / "0.png", np.full((4, 8, 3), 9, np.uint8)))]
    labels = np.tile(np.arange(8, dtype=np.int32), (1, 4, 1))
    dataset = ImageDataset("photos", "train", tuple("abcdefgh"), (4, 4, 3), ImageFiles(paths), labels)
    ((_, found),) = batches(dataset, batch_size=1, image_shape=(4, 4, 3))
    np.testing.assert_array_equal(found[0], np.tile([2, 3, 4, 5], (4, 1)))


def test_images_and_masks_are_resized_as_a_model_asks_for():
    """Twice the size, and the centre of it, which has the size of the set's own images."""
    crop = CropOfModel(Resizing("nearest", 8))
    images, labels = next(iter(batches(masks(), batch_size=3, image_shape=SHAPE, crop=crop)))
    centre = np.s_[:, 2:6, 2:6]
    np.testing.assert_array_equal(labels, masks(3).labels.repeat(2, axis=1).repeat(2, axis=2)[centre])
    np.testing.assert_array_equal(images, masks(3).images)
    dataset = load_dataset("digits", "test")
    sample = {"image_shape": (8, 8, 1), "crop": CropOfModel(Resizing("nearest", 16))}
    images, _ = next(iter(batches(dataset, batch_size=2, **sample)))
    large = dataset.images[:2].repeat(2, axis=1).repeat(2, axis=2)
    np.testing.assert_array_equal(images, large[:, 4:12, 4:12])
    images, _ = sample_images(dataset, len(dataset), **sample)
    assert images.shape == dataset.images.shape and (images != dataset.images).any()


def test_images_are_resized_and_converted():
    dataset = load_dataset("digits", "test")
    images, _ = next(iter(batches(dataset, batch_size=2, image_shape=(16, 24, 3))))
    assert images.shape == (2, 16, 24, 3)
    np.testing.assert_array_equal(images[..., 0], images[..., 2])
    # Enlarging keeps the mean, here within the rounding of pixels and the repeated border.
    expected = dataset.images[:2].mean(axis=(1, 2, 3))
    np.testing.assert_allclose(images.mean(axis=(1, 2, 3)), expected, atol=5)


# Order.


def test_every_epoch_has_each_image_once_in_another_order():
    result = [
        numbers(batch) for batch in batches(numbered(50), batch_size=8, shuffle=True, epochs=3, **PLAIN)
    ]
    assert len(result) == 21
    epochs = [list(itertools.chain(*result[start : start + 7])) for start in (0, 7, 14)]
    for epoch in epochs:
        assert sorted(epoch) == list(range(50))
        assert epoch != list(range(50))
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]


def test_shuffling_is_even():
    """Over many epochs each image comes in each place about equally often."""
    epochs = 2000
    places = [
        numbers(batch)[0]
        for batch in batches(numbered(5), batch_size=5, shuffle=True, epochs=epochs, **PLAIN)
    ]
    counts = np.bincount(places, minlength=5)
    assert abs(counts - epochs / 5).max() < 5 * np.sqrt(epochs * 0.2 * 0.8)


def test_seed_decides():
    def run(seed):
        return list(batches(numbered(), batch_size=4, shuffle=True, augment=noise, seed=seed, **PLAIN))

    assert_same(run(3), run(3))
    assert not np.array_equal(run(3)[0][0], run(4)[0][0])


def test_drop_remainder():
    result = list(batches(numbered(), batch_size=4, epochs=2, drop_remainder=True, **PLAIN))
    assert [len(images) for images, _ in result] == [4] * 4


@pytest.mark.parametrize(
    ("batch_size", "drop", "expected"), [(4, False, 3), (4, True, 2), (5, False, 2), (20, False, 1)]
)
def test_steps_per_epoch(batch_size, drop, expected):
    steps = steps_per_epoch(numbered(), batch_size, drop)
    assert steps == expected
    assert steps == len(list(batches(numbered(), batch_size=batch_size, drop_remainder=drop, **PLAIN)))


# Resuming.


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("start_batch", [0, 1, 3, 4, 8])
def test_resumed_run_sees_what_an_unbroken_one_sees(start_batch, num_workers):
    """Also across epochs: there are three batches in each."""
    options = dict(PLAIN, batch_size=4, shuffle=True, epochs=3, augment=noise, seed=5)
    unbroken = list(batches(numbered(), **options))
    assert len(unbroken) == 9
    resumed = batches(numbered(), start_batch=start_batch, num_workers=num_workers, **options)
    assert_same(unbroken[start_batch:], resumed)


def test_iterating_twice_gives_the_same():
    dataset = batches(numbered(), batch_size=4, shuffle=True, augment=noise, epochs=2, **PLAIN)
    assert_same(dataset, dataset)


def test_more_epochs_leave_the_first_ones_as_they_were():
    options = dict(PLAIN, batch_size=4, shuffle=True, augment=noise)
    assert_same(batches(numbered(), epochs=1, **options), list(batches(numbered(), epochs=5, **options))[:3])


def test_nothing_is_left_of_a_finished_run():
    assert list(batches(numbered(), batch_size=4, epochs=2, start_batch=6, **PLAIN)) == []


# Augmentation.


def test_augmentation_gets_resized_pixels_and_its_own_random_numbers():
    seen = []

    def augment(images, labels, rng):
        seen.append((images.copy(), labels, rng.integers(2**62)))
        return images, labels

    dataset = load_dataset("digits", "test")
    result = list(batches(dataset, batch_size=100, image_shape=(12, 12, 3), augment=augment, epochs=2))
    assert len(seen) == len(result) == 8
    assert len({number for _, _, number in seen}) == 8  # an epoch later too
    for (pixels, labels, _), (images, given) in zip(seen, result, strict=True):
        assert pixels.dtype == np.uint8
        assert pixels.shape == images.shape == (len(labels), 12, 12, 3)
        np.testing.assert_array_equal(labels, given)
        np.testing.assert_array_equal(images, pixels)


def test_augmentation_may_change_pixels_in_place():
    """The images that are kept for the next epoch must not change with the batch."""

    def blacken(images, labels, rng):
        assert images.any() or labels[0] == 0
        images[:] = 0
        labels[:] = 0
        return images, labels

    dataset = numbered(4)
    for shape in (SHAPE, (8, 8, 1)):
        for images, _ in batches(dataset, batch_size=1, image_shape=shape, augment=blacken, epochs=3):
            assert not images.any()
    assert dataset.images[3].all()
    assert dataset.labels.tolist() == [0, 1, 2, 0]


def test_augmentation_may_give_float_pixels_and_soft_labels():
    def mix(images, labels, rng):
        return images * np.float64(0.5), np.eye(3, dtype=np.float32)[labels] * 0.5

    images, labels = next(iter(batches(numbered(), batch_size=4, augment=mix, **PLAIN)))
    assert images.dtype == np.float32
    np.testing.assert_allclose(images[3], 1.5, rtol=1e-6)
    assert labels[2].tolist() == [0, 0, 0.5]


# Reading once.


@pytest.fixture
def photos(tmp_path):
    paths = [str(write_image(tmp_path / f"{i}.png", (i * 20, 0, 255 - i * 20))) for i in range(6)]
    labels = np.array([0, 0, 0, 1, 1, 1], np.int32)
    return ImageDataset("photos", "train", ("a", "b"), (8, 8, 3), ImageFiles(paths), labels)


@pytest.mark.parametrize(("cache_bytes", "decoded"), [(6 * 5 * 5 * 3, 6), (6 * 5 * 5 * 3 - 1, 18)])
def test_small_sets_are_decoded_once(photos, monkeypatch, cache_bytes, decoded):
    """At the limit each file is decoded once in three epochs; a byte below it, in each of them."""
    expected = list(batches(photos, batch_size=4, image_shape=(5, 5, 3), epochs=3))
    calls = []
    resized_part = pipeline.resized_part
    monkeypatch.setattr(pipeline, "_CACHE_BYTES", cache_bytes)
    monkeypatch.setattr(pipeline, "resized_part", lambda *args: calls.append(args[1]) or resized_part(*args))
    assert_same(batches(photos, batch_size=4, image_shape=(5, 5, 3), epochs=3), expected)
    assert len(calls) == decoded
    assert set(calls) == set(range(6))


def test_array_of_the_right_shape_is_not_copied():
    images = np.zeros((20_000, 32, 32, 1), np.uint8)
    dataset = ImageDataset("big", "train", ("a",), (32, 32, 1), images, np.zeros(20_000, np.int32))
    options = dict(batch_size=64, image_shape=(32, 32, 1), shuffle=True)
    next(iter(batches(dataset, **options)))  # what is imported or set up once does not count
    tracemalloc.start()
    for _ in batches(dataset, **options):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < images.nbytes / 10


def test_prefetching_holds_few_batches():
    """Grain's default would read 500 batches ahead."""
    made = []

    def count(images, labels, rng):
        made.append(1)
        return images, labels

    iterator = iter(batches(numbered(200), batch_size=1, augment=count, num_workers=2, **PLAIN))
    next(iterator)
    time.sleep(0.5)  # plenty for the threads to make all 200
    assert 1 <= len(made) <= 4


def test_broken_image_is_named_in_the_middle_of_an_epoch(photos):
    path = photos.images.paths[4]
    with open(path, "wb") as file:
        file.write(b"broken")
    for num_workers in (0, 2):
        iterator = iter(batches(photos, batch_size=2, image_shape=(8, 8, 3), num_workers=num_workers))
        with pytest.raises(OSError, match=f"cannot read the image {path}"):
            list(iterator)


# Wrong arguments.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size=0 must be at least 1"),
        ({"epochs": 0}, "epochs=0 must be at least 1"),
        ({"seed": -1}, "seed=-1 must be at least 0"),
        ({"num_workers": -1}, "num_workers=-1 must be at least 0"),
        ({"start_batch": -1}, "start_batch=-1 must be at least 0"),
        ({"start_batch": 7, "epochs": 2}, "start_batch=7 is beyond the 2 epochs of 3 batches"),
        (
            {"batch_size": 11, "drop_remainder": True},
            "batch_size=11 is more than the 10 images of numbered, train part",
        ),
        ({"image_shape": (32, 32, 2)}, r"image_shape=\(32, 32, 2\): images have 1 channel"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        batches(numbered(), **{"batch_size": 4, **PLAIN, **arguments})


# Samples.


def test_samples_are_spread_over_the_classes():
    digits = load_dataset("digits", "test")
    images, labels = sample_images(digits, 25, image_shape=(8, 8, 1))
    assert images.shape == (25, 8, 8, 1)
    assert (images.dtype, labels.dtype) == (np.float32, np.int32)
    counts = np.bincount(labels, minlength=10)
    assert set(counts.tolist()) == {2, 3}
    # Each is an image of the set with its label, and none comes twice.
    known = {(image.tobytes(), label) for image, label in zip(digits.images, digits.labels, strict=True)}
    found = {(image.astype(np.uint8).tobytes(), label) for image, label in zip(images, labels, strict=True)}
    assert len(found) == 25
    assert found <= known


def test_fewer_samples_than_classes_are_of_different_classes():
    digits = load_dataset("digits", "train")
    _, labels = sample_images(digits, 7, image_shape=(8, 8, 1))
    assert len(set(labels.tolist())) == 7


def test_a_small_class_gives_all_it_has():
    labels = np.array([0] * 20 + [1] * 2, np.int32)
    images = np.zeros((22, *SHAPE), np.uint8)
    dataset = ImageDataset("uneven", "train", ("a", "b", "empty"), SHAPE, images, labels)
    assert np.bincount(sample_images(dataset, 10, **PLAIN)[1]).tolist() == [8, 2]
    assert np.bincount(sample_images(dataset, 22, **PLAIN)[1]).tolist() == [20, 2]


def test_samples_depend_on_the_seed_alone():
    digits = load_dataset("digits", "train")
    options = dict(image_shape=(8, 8, 1))
    first, again, other = (sample_images(digits, 12, seed=seed, **options)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_samples_are_prepared_as_batches_are(photos):
    options = dict(image_shape=(6, 5, 1))
    ((images, labels),) = batches(photos, batch_size=6, **options)
    samples, sample_labels = sample_images(photos, 6, **options)
    found = sorted((*image.ravel(), label) for image, label in zip(samples, sample_labels, strict=True))
    assert found == sorted((*image.ravel(), label) for image, label in zip(images, labels, strict=True))


@pytest.mark.parametrize("count", [0, -1, 11])
def test_wrong_number_of_samples(count):
    with pytest.raises(ValueError, match=f"count={count} must be from 1 to 10"):
        sample_images(numbered(), count, **PLAIN)


# Keras.


def test_keras_fit_and_evaluate():
    """On either backend, warnings being errors; the last batch of an epoch is smaller."""
    train, test = load_dataset("digits", "train"), load_dataset("digits", "test")
    options = dict(batch_size=100, image_shape=(8, 8, 1))
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            keras.layers.Rescaling(1 / 100, -0.75),
            keras.layers.Flatten(),
            keras.layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    history = model.fit(
        batches(train, shuffle=True, epochs=8, **options),
        epochs=8,
        steps_per_epoch=steps_per_epoch(train, 100),
        validation_data=batches(test, **options),
        validation_steps=steps_per_epoch(test, 100),
        shuffle=False,
        verbose=0,
    ).history
    assert len(history["val_accuracy"]) == 8
    assert history["val_accuracy"][-1] > 0.9
    # Every test image counted once: the accuracy is that of all predictions on the whole part.
    ((images, labels),) = batches(test, **{**options, "batch_size": len(test)})
    accuracy = np.mean(np.argmax(model.predict(images, verbose=0), axis=-1) == labels)
    scores = model.evaluate(
        batches(test, **options), steps=steps_per_epoch(test, 100), verbose=0, return_dict=True
    )
    assert scores["accuracy"] == pytest.approx(accuracy, abs=1e-6)
    assert history["val_accuracy"][-1] == pytest.approx(accuracy, abs=1e-6)


WITHOUT_TENSORFLOW = """
import os, sys
os.environ["KERAS_BACKEND"] = "jax"
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "tensorflow":
            raise ModuleNotFoundError("No module named 'tensorflow'", name="tensorflow")
sys.meta_path.insert(0, Blocked())
import keras
from data_sets import batches, load_dataset, sample_images, steps_per_epoch

digits = load_dataset("digits", "test")
options = dict(image_shape=(8, 8, 1))
model = keras.Sequential(
    [keras.Input((8, 8, 1)), keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), keras.layers.Dense(10)]
)
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
steps = steps_per_epoch(digits, 64)
data = batches(digits, batch_size=64, shuffle=True, epochs=2, num_workers=1, **options)
history = model.fit(data, epochs=2, steps_per_epoch=steps, shuffle=False, verbose=0).history
assert history["loss"][1] < history["loss"][0], history
assert sample_images(digits, 3, **options)[0].shape == (3, 8, 8, 1)
assert "tensorflow" not in sys.modules
print(keras.backend.backend(), "is enough")
"""


@pytest.mark.slow
def test_jax_without_tensorflow():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_TENSORFLOW], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "jax is enough\n"


def test_import_is_cheap():
    """Commands import the package before they read their flags: no Keras, Grain or scikit-learn yet."""
    heavy = {"keras", "grain", "sklearn", "matplotlib"}
    code = f"import sys, data_sets, training.data; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
