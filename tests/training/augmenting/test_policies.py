"""What images draw, against the definitions of the policies; and that what is drawn is applied."""

import collections

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps
from scipy import stats

from tests.training.augmenting.making import digits, photos
from training.augmenting.policies import RandAugment, RandAugmentIncreasing, TrivialAugmentWide

pytestmark = pytest.mark.once

COUNT = 20_000
SIZE = (96, 64)
ENHANCING = ("Brightness", "Color", "Contrast", "Sharpness")
MOVING = ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate")
PLAIN = ("Identity", "AutoContrast", "Equalize")
TORCHVISION = {*ENHANCING, *MOVING, *PLAIN, "Posterize", "Solarize"}
TIMM = {*TORCHVISION, "Invert", "SolarizeAdd"} - {"Identity"}


def rng(seed=0):
    return np.random.default_rng(seed)


def drawn(policy, count=COUNT):
    return policy.draw(count, SIZE, rng())


def strengths(images):
    """From the names of operations to all strengths that were drawn for them, in order."""
    found = collections.defaultdict(list)
    for changes in images:
        for name, strength in changes:
            found[name].append(strength)
    return found


def is_even(counts):
    """Whether counts may be those of equally probable things; a fair one fails in one of 10,000 seeds."""
    return stats.chisquare(counts).pvalue > 1e-4


def is_fair(signs):
    return stats.binomtest(int(np.sum(np.array(signs) > 0)), len(signs)).pvalue > 1e-4


@pytest.mark.parametrize(
    "policy, names, num_ops",
    [
        (RandAugment(), TORCHVISION, 2),
        (RandAugment(num_ops=3), TORCHVISION, 3),
        (TrivialAugmentWide(), TORCHVISION, 1),
        (RandAugmentIncreasing(chance=1.0), TIMM, 2),
    ],
)
def test_each_place_draws_each_operation_equally_often_whatever_the_others_draw(policy, names, num_ops):
    images = drawn(policy)
    assert {len(changes) for changes in images} == {num_ops}
    combinations = collections.Counter(tuple(name for name, _ in changes[:2]) for changes in images)
    assert {name for names in combinations for name in names} == names
    assert len(combinations) == len(names) ** min(num_ops, 2)
    assert is_even(list(combinations.values()))


def test_strengths_of_randaugment_are_those_of_bin_9_of_31():
    found = strengths(drawn(RandAugment()))
    largest = {
        **dict.fromkeys(("ShearX", "ShearY"), 0.09), **dict.fromkeys(ENHANCING, 0.27), "Rotate": 9.0,
        # int(150 / 331 * side * 0.3), width and height of the images being 64 and 96.
        "TranslateX": 8, "TranslateY": 13,
    }  # fmt: skip
    for name, expected in largest.items():
        np.testing.assert_allclose(np.abs(found[name]), expected, rtol=1e-12)
        assert is_fair(np.sign(found[name]))
    # 8 bits less round(9 / 7.5); 255 less 9 of 30 parts.
    assert {*found["Posterize"]} == {7} and {*found["Solarize"]} == {178.5}
    assert all({*found[name]} == {0} for name in PLAIN)


@pytest.mark.parametrize(
    "magnitude, shear, bits, threshold, pixels",
    [(0, 0, 8, 255, 0), (30, 0.3, 4, 0, 29), (19, 0.19, 5, 93.5, 18)],
)
def test_magnitude_of_randaugment_sets_the_bin(magnitude, shear, bits, threshold, pixels):
    found = strengths(drawn(RandAugment(magnitude=magnitude), 2000))
    np.testing.assert_allclose(np.abs(found["ShearX"]), shear, atol=1e-12)
    np.testing.assert_allclose(found["Solarize"], threshold, atol=1e-12)
    assert {*found["Posterize"]} == {bits} and {*np.abs(found["TranslateX"])} == {pixels}


def test_strengths_of_trivialaugment_are_those_of_all_bins_equally_often():
    found = strengths(drawn(TrivialAugmentWide(), 10 * COUNT))
    bins = np.arange(31)
    largest = {
        **dict.fromkeys(("ShearX", "ShearY", *ENHANCING), 0.99), "Rotate": 135,
        "TranslateX": 32, "TranslateY": 32,
    }  # fmt: skip
    for name, most in largest.items():
        values = most * bins / 30
        values = np.floor(values) if name.startswith("Translate") else values
        assert is_fair([value for value in found[name] if value])
        levels, counts = np.unique(np.abs(np.round(found[name], 9)), return_counts=True)
        expected, wanted = np.unique(np.round(values, 9), return_counts=True)
        np.testing.assert_allclose(levels, expected)
        assert stats.chisquare(counts, wanted / 31 * counts.sum()).pvalue > 1e-4
    levels, counts = np.unique(found["Posterize"], return_counts=True)
    expected, wanted = np.unique(8 - np.round(bins / 5), return_counts=True)
    np.testing.assert_array_equal(levels, expected)
    assert stats.chisquare(counts, wanted / 31 * counts.sum()).pvalue > 1e-4
    thresholds, counts = np.unique(np.round(found["Solarize"], 9), return_counts=True)
    np.testing.assert_allclose(thresholds, 255 - 8.5 * bins[::-1])
    assert is_even(counts)


def test_timm_applies_each_drawn_operation_with_a_chance_of_one_half():
    numbers = np.bincount([len(changes) for changes in drawn(RandAugmentIncreasing())])
    assert stats.chisquare(numbers, COUNT * np.array([0.25, 0.5, 0.25])).pvalue > 1e-4


def test_magnitudes_of_timm_are_normal_around_9_and_at_most_10():
    found = strengths(drawn(RandAugmentIncreasing()))
    largest = {
        "Rotate": 30, **dict.fromkeys(("ShearX", "ShearY"), 0.3), **dict.fromkeys(ENHANCING, 0.9),
        "TranslateX": 0.45 * 64, "TranslateY": 0.45 * 96,
    }  # fmt: skip
    levels = []
    for name, most in largest.items():
        assert is_fair(np.sign(found[name]))
        levels += (10 * np.abs(found[name]) / most).tolist()
    levels = np.array(levels)
    highest = levels > 10 - 1e-9
    assert levels.max() <= 10 + 1e-9
    # Two deviations above the mean is the end of the range.
    assert stats.binomtest(int(highest.sum()), len(levels), stats.norm.sf(2)).pvalue > 1e-4
    below = stats.truncnorm(-np.inf, 2, loc=9, scale=0.5)
    assert stats.kstest(levels[~highest], below.cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    "level, bits, threshold, addend", [(0, 4, 256, 0), (5, 2, 128, 55), (9, 1, 26, 99), (10, 0, 0, 110)]
)
def test_operations_of_timm_are_stronger_with_the_magnitude(level, bits, threshold, addend):
    found = strengths(drawn(RandAugmentIncreasing(magnitude=level, magnitude_std=0, chance=1.0), 500))
    assert {*found["Posterize"]} == {bits} and {*found["Solarize"]} == {threshold}
    assert {*found["SolarizeAdd"]} == {addend} and {*found["Invert"]} == {0}


def by_pillow(image, name, strength, filter, fill):
    """An operation as torchvision and timm call it."""
    affine = {
        "ShearX": (1, strength, 0, 0, 1, 0), "ShearY": (1, 0, 0, strength, 1, 0),
        "TranslateX": (1, 0, strength, 0, 1, 0), "TranslateY": (1, 0, 0, 0, 1, strength),
    }  # fmt: skip
    if name in affine:
        return image.transform(image.size, Image.AFFINE, affine[name], filter, fillcolor=fill)
    if name == "Rotate":
        return image.rotate(strength, filter, fillcolor=fill)
    if name in ENHANCING:
        return getattr(ImageEnhance, name)(image).enhance(1 + strength)
    if name == "SolarizeAdd":
        return Image.eval(image, lambda value: min(255, value + strength) if value < 128 else value)
    functions = {
        "Identity": lambda: image.copy(),
        "AutoContrast": lambda: ImageOps.autocontrast(image), "Equalize": lambda: ImageOps.equalize(image),
        "Invert": lambda: ImageOps.invert(image), "Solarize": lambda: ImageOps.solarize(image, strength),
        "Posterize": lambda: ImageOps.posterize(image, strength),
    }  # fmt: skip
    return functions[name]()


@pytest.mark.parametrize(
    "policy, filter, fill",
    [
        (RandAugment(), Image.NEAREST, (0, 0, 0)),
        (TrivialAugmentWide("bilinear", fill=30), Image.BILINEAR, (30, 30, 30)),
        (RandAugmentIncreasing(fill=[124, 116, 104]), Image.BICUBIC, (124, 116, 104)),
    ],
)
def test_photos_become_what_pillow_makes_of_what_they_draw(policy, filter, fill):
    images = photos().repeat(8, axis=0)
    found = policy({"images": images.astype(np.float32)}, rng(3))["images"]
    assert found.dtype == np.uint8
    for pixels, changes, received in zip(
        images, policy.draw(len(images), images.shape[1:3], rng(3)), found, strict=True
    ):
        image = Image.fromarray(pixels)
        for name, strength in changes:
            image = by_pillow(image, name, strength, filter, fill)
        np.testing.assert_array_equal(received, np.asarray(image))


def test_grey_images_are_changed_like_coloured_ones_of_equal_channels():
    grey = digits().repeat(8, axis=0).astype(np.float32)
    policy = RandAugment()
    coloured = policy({"images": grey.repeat(3, axis=-1)}, rng())["images"]
    found = policy({"images": grey}, rng())["images"].repeat(3, axis=-1)
    np.testing.assert_allclose(found.astype(int), coloured.astype(int), atol=1)


def test_masks_move_with_their_images_and_keep_their_classes():
    images = np.full((64, 24, 24, 1), 50, np.float32)
    masks = np.zeros((64, 24, 24, 1), np.float32)
    images[:, 6:14, 8:18], masks[:, 6:14, 8:18] = 200, 2
    data = {"images": images, "segmentation_masks": masks}
    changed = TrivialAugmentWide()(data, rng())
    changes = TrivialAugmentWide().draw(64, (24, 24), rng())
    assert set(np.unique(changed["segmentation_masks"])) == {0, 2}
    for image, mask, ((name, _),) in zip(
        changed["images"], changed["segmentation_masks"], changes, strict=True
    ):
        if name in MOVING:
            np.testing.assert_array_equal(image > 125, mask == 2)
        else:
            np.testing.assert_array_equal(mask, masks[0])


@pytest.mark.parametrize(
    "policy, arguments, words",
    [
        (RandAugment, {"num_ops": 0}, "num_ops has to be an integer from 1 to 100; received 0"),
        (RandAugment, {"magnitude": 31}, "magnitude has to be a number from 0 to 30; received 31"),
        (RandAugment, {"fill": 256}, "fill has to be an integer from 0 to 255, .*; received 256"),
        (RandAugment, {"interpolation": "cubic"}, "one of nearest, bilinear, bicubic; received 'cubic'"),
        (RandAugmentIncreasing, {"magnitude": 11}, "magnitude has to be a number from 0 to 10; received 11"),
        (RandAugmentIncreasing, {"magnitude_std": -1}, "magnitude_std has to be a number from 0 to 10"),
        (RandAugmentIncreasing, {"chance": True}, "chance has to be a number from 0 to 1; received True"),
    ],
)
def test_wrong_arguments_are_named(policy, arguments, words):
    with pytest.raises(ValueError, match=words):
        policy(**arguments)


def test_a_fill_of_other_channels_is_refused():
    with pytest.raises(ValueError, match="fill has 2 numbers, and the images have 3 channels"):
        RandAugment(fill=(1, 2))({"images": photos()}, rng())
