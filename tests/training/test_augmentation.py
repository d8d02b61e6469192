"""Augmentation is right about images and labels, and a function of the generator alone."""

import concurrent.futures

import keras
import numpy as np
import pytest

from data_sets import batches, load_dataset
from data_sets.crops import CENTRE
from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import InputError
from training.fitting.augmentation import Augmentation

NUM_CLASSES = 4
CLASSIFICATION = task_named("classification")


def augmentation(table):
    return Augmentation(table, CLASSIFICATION, NUM_CLASSES)


def rng(seed=0):
    return np.random.default_rng(seed)


def batch(size=16, shape=(8, 8, 3)):
    """Random pixels, and the classes in turn."""
    return rng(7).integers(0, 256, (size, *shape), np.uint8), np.arange(size, dtype=np.int32) % NUM_CLASSES


def plain_images(labels, shape):
    """Images of one colour, which is 60 times the label."""
    return np.broadcast_to(60 * labels[:, None, None, None], (len(labels), *shape)).astype(np.uint8)


LAYERS = [
    ("RandomFlip", {}),
    ("RandomTranslation", {"height_factor": 0.3, "width_factor": 0.3, "fill_mode": "constant"}),
    ("RandomRotation", {"factor": 0.2}),
    ("RandomZoom", {"height_factor": 0.4}),
    ("RandomShear", {"x_factor": 0.4}),
    ("RandomErasing", {"chance": 0.5, "std": 0.0}),  # noise may leave the range of pixels
    ("RandomBrightness", {"factor": 0.5}),
    ("RandomContrast", {"factor": 0.5}),
    ("MixUp", {}),
    ("CutMix", {}),
    ("RandAugment", {}),
    ("RandAugmentIncreasing", {}),
    ("TrivialAugmentWide", {}),
    ("MixUpOrCutMix", {}),
]


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name, arguments", LAYERS)
def test_a_layer_draws_from_the_generator_alone(name, arguments):
    images, labels = batch()
    augment = augmentation([(name, arguments)])
    first, first_labels = augment(images, labels, rng(1))
    other, _ = augment(images, labels, rng(2))
    again, again_labels = augment(images, labels, rng(1))
    fresh, fresh_labels = augmentation([(name, arguments)])(images, labels, rng(1))
    assert first.shape == images.shape and first.dtype == np.float32
    assert first_labels.shape == (16, NUM_CLASSES) and first_labels.dtype == np.float32
    assert first.min() >= 0 and first.max() <= 255.01
    assert not np.array_equal(first, images) and not np.array_equal(first, other)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first_labels, again_labels)
    np.testing.assert_array_equal(first, fresh)
    np.testing.assert_array_equal(first_labels, fresh_labels)


def test_an_empty_table_only_makes_probabilities():
    images, labels = batch()
    changed, probabilities = augmentation(())(images, labels, rng())
    np.testing.assert_array_equal(changed, images)
    np.testing.assert_array_equal(probabilities.argmax(1), labels)
    np.testing.assert_array_equal(probabilities.sum(1), 1)
    assert set(np.unique(probabilities)) == {0, 1}


def test_flip_mirrors_about_half_of_the_images():
    images, labels = batch(200)
    flipped, probabilities = augmentation([("RandomFlip", {"mode": "horizontal"})])(images, labels, rng())
    same = (flipped == images).all((1, 2, 3))
    mirrored = (flipped == images[:, :, ::-1]).all((1, 2, 3))
    assert (same ^ mirrored).all()
    assert 70 < mirrored.sum() < 130
    np.testing.assert_array_equal(probabilities.argmax(1), labels)


def test_translation_moves_the_pixels_and_fills_with_black():
    images, labels = batch()
    table = [
        ("RandomTranslation", {"height_factor": (0.25, 0.25), "width_factor": 0, "fill_mode": "constant"})
    ]
    moved, _ = augmentation(table)(images, labels, rng())
    np.testing.assert_allclose(moved[:, 2:], images[:, :-2], atol=1e-3)
    np.testing.assert_array_equal(moved[:, :2], 0)


# CutMix weighs by the area of its box before it is rounded to whole pixels.
@pytest.mark.parametrize("name, arguments, atol", [("MixUp", {}, 0.01), ("CutMix", {"factor": 1.0}, 6)])
def test_mixing_weighs_labels_as_it_weighs_images(name, arguments, atol):
    labels = batch(32)[1]
    images = plain_images(labels, shape=(64, 64, 1))
    mixed, probabilities = augmentation([(name, arguments)])(images, labels, rng())
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-6)
    assert ((probabilities > 0.05).sum(1) == 2).sum() > 5
    np.testing.assert_allclose(mixed.mean((1, 2, 3)), 60 * probabilities @ np.arange(NUM_CLASSES), atol=atol)


def test_layers_are_applied_in_the_order_of_the_table():
    images, labels = batch()
    right = ("RandomTranslation", {"height_factor": 0, "width_factor": (0.25, 0.25), "fill_mode": "constant"})
    wrap = ("RandomTranslation", {"height_factor": 0, "width_factor": (-0.25, -0.25), "fill_mode": "wrap"})
    black_right, _ = augmentation([right, wrap])(images, labels, rng())
    black_left, _ = augmentation([wrap, right])(images, labels, rng())
    np.testing.assert_allclose(black_right[:, :, 6:], 0, atol=1e-3)
    np.testing.assert_allclose(black_left[:, :, :2], 0, atol=1e-3)
    assert black_right[:, :, :2].mean() > 50


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_threads_do_not_disturb_each_other():
    images, labels = batch()
    table = [("RandomFlip", {}), ("RandomRotation", {"factor": 0.1})]
    expected = [augmentation(table)(images, labels, rng(seed))[0] for seed in range(12)]
    augment = augmentation(table)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        received = pool.map(lambda seed: augment(images, labels, rng(seed))[0], range(12))
    for one, other in zip(expected, received, strict=True):
        np.testing.assert_array_equal(one, other)


AS_PUBLISHED = [
    ("RandomResizedCrop", {"interpolation": "bicubic"}),
    ("RandomFlip", {"mode": "horizontal"}),
    ("RandAugmentIncreasing", {}),
    ("RandAugment", {}),
    ("RandomErasing", {}),
    ("MixUpOrCutMix", {}),
]


@pytest.mark.slow_on_jax
@pytest.mark.parametrize(
    "table, views",
    [
        ([("RandomTranslation", {"height_factor": 0.2, "width_factor": 0.2}), ("MixUp", {})], 1),
        (AS_PUBLISHED, 2),
    ],
)
def test_a_batch_of_the_pipeline_does_not_depend_on_where_the_pipeline_starts(table, views):
    digits = load_dataset("digits", "test")

    def made(start):
        augment = Augmentation(table, CLASSIFICATION, 10)
        return list(
            batches(
                digits,
                batch_size=80,
                image_shape=(8, 8, 1),
                shuffle=True,
                seed=3,
                augment=augment,
                crop=augment.crop or CENTRE,
                views=views,
                epochs=2,
                start_batch=start,
                drop_remainder=True,
                num_workers=2 if start else 0,
            )
        )

    whole, rest = made(0), made(6)
    assert len(whole) == 8 and len(rest) == 2
    assert not np.array_equal(whole[0][0], whole[4][0])
    for one, other in zip(whole[6:], rest, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.slow_on_jax
def test_the_global_random_state_of_keras_plays_no_part():
    images, labels = batch()
    table = [("RandomErasing", {}), ("CutMix", {})]
    expected = augmentation(table)(images, labels, rng())[0]
    keras.random.uniform((3,))
    np.testing.assert_array_equal(augmentation(table)(images, labels, rng())[0], expected)


@pytest.mark.parametrize(
    "table, words",
    [
        ([("RandomFlap", {})], "no operation 'RandomFlap'.*did you mean 'RandomFlip'"),
        ([("Dense", {"units": 3})], "no operation 'Dense', and Keras has no layer 'Dense' that changes"),
        (
            [("RandomFlip", {"mod": "horizontal"})],
            "RandomFlip does not take {'mod': 'horizontal'}.*its arguments are mode",
        ),
        (
            [("RandAugment", {"factor": 0.9})],
            "RandAugment does not take .*its arguments are num_ops, magnitude, interpolation, fill",
        ),
        ([("RandAugment", {"magnitude": 40})], "magnitude has to be a number from 0 to 30; received 40"),
        ([("RandAugmentt", {})], "there is no operation 'RandAugmentt'.*did you mean 'RandAugment'"),
        ([("RandomRotation", {"factor": 7})], "RandomRotation does not take"),
        (
            [("RandAugment", {"fill": 1.5})],
            r"fill has to be an integer from 0 to 255, or one for each channel; received 1\.5",
        ),
        (["RandomFlip"], "pair of an operation's name and a dict.*received 'RandomFlip'"),
        ([("RandomFlip", 3)], "pair of an operation's name"),
    ],
)
def test_a_wrong_table_is_named_when_it_is_read(table, words):
    with pytest.raises(ValueError, match=words):
        augmentation(table)


def test_a_random_crop_comes_first_for_it_is_made_as_images_are_read():
    assert augmentation(AS_PUBLISHED).crop is not None and augmentation(AS_PUBLISHED[1:]).crop is None
    with pytest.raises(
        ValueError, match="RandomResizedCrop is made as images are read and has to come first"
    ):
        augmentation(AS_PUBLISHED[::-1])


def test_a_layer_that_resizes_is_refused():
    """At once, and with a batch of another size."""
    _, labels = batch()
    augment = augmentation([("CenterCrop", {"height": 8, "width": 8})])
    augment.try_out((8, 8, 3), labels[:1])
    with pytest.raises(InputError, match=r"CenterCrop made \(8, 8, 3\) of \(9, 9, 3\)"):
        augment.try_out((9, 9, 3), labels[:1])
    with pytest.raises(InputError, match=r"CenterCrop made \(8, 8, 3\) of \(9, 9, 3\)"):
        augment(*batch(shape=(9, 9, 3)), rng())


# Keras' layers take each of these, and fail with the first batch or make what nobody meant.
@pytest.mark.parametrize(
    "name, argument, values",
    [
        ("MixUp", "alpha", ["x", None, -1, 0, [], {}, True, 10**400]),
        ("AugMix", "num_chains", ["x", None, -1, 1.5, True, 10**9]),
        ("AugMix", "chain_depth", ["x", -1, 1.5, 10**9]),
        ("AugMix", "all_ops", ["x", None, 1]),
        ("RandomBrightness", "factor", [None, [], {}, True]),
        ("RandomColorJitter", "value_range", ["x", 5, [1, 2, 3], [255, 0]]),
        ("RandomColorJitter", "brightness_factor", ["x", [], True]),
        ("RandomContrast", "value_range", ["x", None, ["a", "b"]]),
        ("RandomGaussianBlur", "kernel_size", [1.5, -1, True]),
        ("RandomPerspective", "fill_value", ["x", None, [], -1, 1e30]),
        ("Equalization", "bins", ["x", 1.5, -1, 10**12]),
        ("CenterCrop", "height", ["x", 1.5, -1]),
        ("Resizing", "antialias", ["x"]),
        *(("RandomInvert", name, [0]) for name in ("seed", "data_format", "nope")),
    ],
)
def test_a_wrong_argument_of_a_layer_of_keras(name, argument, values):
    right = {"CenterCrop": {"height": 8, "width": 8}, "Resizing": {"height": 8, "width": 8}}
    right |= {key: {"factor": 0.1} for key in ("RandomBrightness", "RandomContrast")}
    augmentation([(name, right.get(name, {}))])
    for value in values:
        with pytest.raises(InputError, match=rf"^augmentation: {name} does not take .*{argument}") as raised:
            augmentation([(name, {**right.get(name, {}), argument: value})])
        assert "\n" not in str(raised.value)


def test_what_a_layer_of_keras_refuses_when_it_is_called_shows_at_once():
    augment = augmentation([("Resizing", {"height": 8, "width": 8, "fill_mode": "x"})])
    words = r"^augmentation: Resizing does not work on images \(8, 8, 3\): [^\x1b\n]*fill_mode=x$"
    with pytest.raises(InputError, match=words):
        augment.try_out((8, 8, 3), np.zeros(1, np.int32))


def test_all_of_an_image_is_grey_or_nothing():
    """Keras' layer takes no dict, and gets its images alone."""
    images, labels = batch()
    augment = augmentation([("RandomGrayscale", {"factor": 0.5})])
    augment.try_out((8, 8, 3), labels[:1])
    changed, _ = augment(images, labels, rng())
    grey = (changed == changed[..., :1]).all((1, 2, 3))
    assert 0 < grey.sum() < len(grey)
    np.testing.assert_array_equal(changed[~grey], images[~grey])


SEGMENTATION = task_named("segmentation")


def scenes(count=12):
    """Grey images with a bright square, and masks of class 2 in the square and class 0 elsewhere."""
    images, masks = np.full((count, 16, 16, 1), 50, np.uint8), np.zeros((count, 16, 16), np.int32)
    images[:, 3:9, 5:11], masks[:, 3:9, 5:11] = 200, 2
    return images, masks


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("RandomFlip", {}),
        ("RandomTranslation", {"height_factor": 0.25, "width_factor": 0.25, "fill_mode": "nearest"}),
        ("RandomRotation", {"factor": (0.25, 0.25), "fill_mode": "nearest"}),
        ("RandomZoom", {"height_factor": (-0.3, -0.3), "fill_mode": "nearest"}),
        ("RandomContrast", {"factor": 0.2}),
        ("CutMix", {"factor": 1.0}),
    ],
)
def test_masks_change_with_their_images(name, arguments):
    """But for pixels on an edge, where images are interpolated and masks are not."""
    images, masks = scenes()
    changed, targets = Augmentation([(name, arguments)], SEGMENTATION, 3)(images, masks, rng())
    assert targets.dtype == np.int32 and targets.shape == masks.shape
    assert set(np.unique(targets)) <= {0, 2} and (targets == 2).any()
    bright = changed[..., 0] > 125
    assert (bright == (targets == 2)).mean() > 0.95


def test_masks_without_augmentation_are_their_own_targets():
    images, masks = scenes()
    changed, targets = Augmentation((), SEGMENTATION, 3)(images, masks, rng())
    np.testing.assert_array_equal(changed, images)
    np.testing.assert_array_equal(targets, masks)


@pytest.mark.parametrize("name", ["MixUp", "MixUpOrCutMix"])
def test_classes_of_masks_are_not_averaged(name):
    with pytest.raises(ValueError, match=f"{name} averages labels, which masks of classes do not allow"):
        Augmentation([(name, {})], SEGMENTATION, 3)(*scenes(), rng())
