"""Crops take the part that torchvision takes, and draw as it is defined; a JPEG is decoded smaller."""

import numpy as np
import pytest
from PIL import Image, ImageOps
from scipy import stats
from sklearn.datasets import load_sample_images

from data_sets import ImageDataset, batches
from data_sets.crops import CentreCrop, RandomResizedCrop
from data_sets.images import ImageFiles, resized
from tests.data_sets.making import write_image

FILTERS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def photo():
    """A photo of 640 x 427 pixels."""
    return load_sample_images().images[0]


@pytest.fixture
def photos(tmp_path, photo):
    """The same photo in several shapes, as files without loss."""
    shapes = [photo, photo[:, :300], photo[:100], photo[:61, :47]]
    return [str(write_image(tmp_path / f"{index}.png", pixels)) for index, pixels in enumerate(shapes)]


def torchvision_centre(pixels, size, share, filter):
    """`Resize(int(size / share))` and `CenterCrop(size)` of torchvision, by Pillow as there."""
    image, shorter = Image.fromarray(pixels), int(size / share)
    width, height = image.size
    if width <= height:
        image = image.resize((shorter, int(shorter * height / width)), filter)
    else:
        image = image.resize((int(shorter * width / height), shorter), filter)
    left, top = (round((whole - size) / 2.0) for whole in image.size)
    return np.asarray(image.crop((left, top, left + size, top + size)))


@pytest.mark.parametrize("interpolation", FILTERS)
@pytest.mark.parametrize("size, share", [(224, 0.875), (32, 0.875), (100, 0.9)])
def test_the_centre_is_that_of_torchvision(photos, size, share, interpolation):
    crop = CentreCrop(share, interpolation)
    for index, path in enumerate(photos):
        pixels = np.asarray(Image.open(path))
        expected = torchvision_centre(pixels, size, share, FILTERS[interpolation])
        found = resized(ImageFiles(photos), index, (size, size, 3), crop)
        assert abs(found.astype(int) - expected).max() <= 1


@pytest.mark.parametrize("size", [(64, 64), (8, 8), (90, 31)])
def test_the_whole_centre_is_that_of_pillow(photos, size):
    """As the app has it, which resizes photos of any size on the phone."""
    for index, path in enumerate(photos):
        found = resized(ImageFiles(photos), index, (*size[::-1], 3))
        expected = ImageOps.fit(Image.open(path), size, Image.Resampling.BILINEAR)
        assert abs(found.astype(int) - np.asarray(expected)).max() <= 1


def test_the_centre_of_an_array_is_that_of_the_stretched_image(photo):
    found = resized(photo[np.newaxis], 0, (56, 112, 3), CentreCrop(0.875, "bicubic"))
    stretched = Image.fromarray(photo).resize((128, 64), Image.Resampling.BICUBIC).crop((8, 4, 120, 60))
    assert abs(found.astype(int) - np.asarray(stretched)).max() <= 1


@pytest.mark.parametrize("interpolation", FILTERS)
def test_a_random_part_is_cut_out_and_resized_as_torchvision_does(photos, interpolation):
    crop = RandomResizedCrop(interpolation=interpolation)
    for index, path in enumerate(photos):
        for seed in range(10):
            image = Image.open(path)
            box = crop.box(image.size, (96, 96), rng=rng(seed))
            assert all(type(place) is int for place in box)
            expected = image.crop(box).resize((96, 96), FILTERS[interpolation])
            found = resized(ImageFiles(photos), index, (96, 96, 3), crop, rng(seed))
            np.testing.assert_array_equal(found, np.asarray(expected))


def test_arrays_are_cropped_like_files(photos):
    pixels = np.asarray(Image.open(photos[0]))[np.newaxis]
    arguments = (0, (48, 48, 3), RandomResizedCrop())
    np.testing.assert_array_equal(
        resized(pixels, *arguments, rng(1)), resized(ImageFiles(photos), *arguments, rng(1))
    )


def boxes(size, count=20_000, **arguments):
    """Boxes of one crop, int array (count, 4)."""
    crop, generator = RandomResizedCrop(**arguments), rng()
    return np.array([crop.box(size, None, rng=generator) for _ in range(count)])


def test_area_is_even_and_the_logarithm_of_the_aspect_too():
    """Of parts that always fit, so that none is drawn again."""
    left, top, right, bottom = boxes((1000, 800), area=(0.08, 0.5)).T
    width, height = right - left, bottom - top
    assert stats.kstest(width * height / 800_000, stats.uniform(0.08, 0.42).cdf).statistic < 0.015
    ends = np.log([3 / 4, 4 / 3])
    even = stats.uniform(ends[0], ends[1] - ends[0])
    assert stats.kstest(np.log(width / height), even.cdf).statistic < 0.015


def test_places_are_even():
    places = boxes((40, 30), area=(0.25, 0.25), aspect=(1, 1))
    side = round(np.sqrt(0.25 * 1200))
    assert (places[:, 2:] - places[:, :2] == side).all()
    for axis, whole in enumerate((40, 30)):
        counts = np.bincount(places[:, axis])
        assert len(counts) == whole - side + 1 and stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("size", [(500, 375), (33, 32), (1, 1), (1, 500)])
def test_parts_lie_in_the_image(size):
    left, top, right, bottom = boxes(size, 2000).T
    assert (left >= 0).all() and (top >= 0).all() and (right <= size[0]).all() and (bottom <= size[1]).all()
    assert (left < right).all() and (top < bottom).all()


@pytest.mark.parametrize(
    "size, expected",
    [
        ((100, 10), (43, 0, 56, 10)),  # too wide: 13 of 10 pixels is a third more
        ((10, 100), (0, 43, 10, 56)),
        ((100, 90), (0, 0, 100, 90)),
    ],
)
def test_the_middle_is_taken_where_no_part_fits(size, expected):
    """Of the whole area none does, unless the aspect is just the image's."""
    assert tuple(boxes(size, 1, area=(1, 1))[0].tolist()) == expected


def smooth_photo():
    rows, columns = np.mgrid[0:768, 0:1024] / 60
    waves = 128 + 60 * np.stack([np.sin(rows), np.cos(columns), np.sin(rows + columns)], axis=-1)
    return waves.astype(np.uint8)


@pytest.mark.parametrize("orientation", [1, 6])
@pytest.mark.parametrize("crop", [CentreCrop(0.875, "bicubic"), RandomResizedCrop((0.1, 1.0))])
def test_a_large_jpeg_is_decoded_smaller_and_looks_the_same(tmp_path, monkeypatch, crop, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = str(write_image(tmp_path / "photo.jpg", smooth_photo(), quality=95, exif=exif))
    sizes, pixels_of = [], type(crop).pixels
    monkeypatch.setattr(
        type(crop),
        "pixels",
        lambda self, image, *rest: sizes.append(image.size) or pixels_of(self, image, *rest),
    )
    for seed in range(8):
        small = resized(ImageFiles([path]), 0, (48, 48, 3), crop, rng(seed))
        whole = ImageFiles([path])[0]
        box = crop.box(whole.shape[1::-1], (48, 48), rng=rng(seed))
        expected = pixels_of(crop, Image.fromarray(whole), box, (48, 48))
        assert abs(small.astype(int) - np.asarray(expected)).max() <= 6
        least = min(
            (box[2] - box[0]) * sizes[-1][0] / whole.shape[1],
            (box[3] - box[1]) * sizes[-1][1] / whole.shape[0],
        )
        assert least >= 96 or sizes[-1] == whole.shape[1::-1]
    assert min(sizes) < (768, 768)


def dataset_of(paths):
    labels = np.arange(len(paths), dtype=np.int32) % 2
    return ImageDataset("photos", "train", ("a", "b"), (32, 32, 3), ImageFiles(paths), labels)


def test_batches_draw_another_part_each_time_and_the_same_after_a_restart(photos):
    options = {"batch_size": 2, "image_shape": (32, 32, 3), "crop": RandomResizedCrop(), "shuffle": True}
    whole = list(batches(dataset_of(photos), epochs=3, seed=2, **options))
    rest = list(batches(dataset_of(photos), epochs=3, seed=2, start_batch=3, num_workers=2, **options))
    assert len(whole) == 6 and len(rest) == 3
    for (images, labels), (again, same) in zip(whole[3:], rest, strict=True):
        np.testing.assert_array_equal(images, again)
        np.testing.assert_array_equal(labels, same)
    assert len({image.tobytes() for images, _ in whole for image in images}) == 12


def test_the_centre_of_a_small_set_is_made_once(photos):
    options = {"batch_size": 4, "image_shape": (32, 32, 3), "crop": CentreCrop(0.5)}
    (first, _), (second, _) = batches(dataset_of(photos), epochs=2, **options)
    np.testing.assert_array_equal(first, second)
    expected = [resized(ImageFiles(photos), index, (32, 32, 3), CentreCrop(0.5)) for index in range(4)]
    np.testing.assert_array_equal(first, expected)


def test_an_array_of_the_right_shape_is_cropped_too():
    pixels = rng().integers(0, 256, (4, 32, 32, 3), np.uint8)
    dataset = ImageDataset("noise", "train", ("a",), (32, 32, 3), pixels, np.zeros(4, np.int32))
    ((images, _),) = batches(dataset, batch_size=4, image_shape=(32, 32, 3), crop=CentreCrop(0.5, "nearest"))
    np.testing.assert_array_equal(images, pixels[:, 8:24, 8:24].repeat(2, axis=1).repeat(2, axis=2))


def test_masks_are_not_cropped_at_random():
    images, masks = np.zeros((2, 8, 8, 1), np.uint8), np.zeros((2, 8, 8), np.int32)
    dataset = ImageDataset("masks", "train", ("a",), (8, 8, 1), images, masks, "segmentation")
    with pytest.raises(ValueError, match="masks has masks, which are not cropped at random"):
        batches(dataset, batch_size=2, image_shape=(8, 8, 1), crop=RandomResizedCrop())


@pytest.mark.parametrize(
    "crop, arguments, words",
    [
        (CentreCrop, {"share": 0}, "share has to be a number, more than 0 and at most 1; received 0"),
        (CentreCrop, {"share": "all"}, "share has to be a number"),
        (CentreCrop, {"interpolation": "area"}, "one of nearest, bilinear, bicubic; received 'area'"),
        (RandomResizedCrop, {"area": 0.5}, "area has to be a pair of numbers in order"),
        (RandomResizedCrop, {"area": (0.5, 2)}, "area has to be a pair of numbers.*at most 1"),
        (RandomResizedCrop, {"aspect": (2, 1)}, "aspect has to be a pair of numbers in order"),
    ],
)
def test_wrong_arguments_are_named(crop, arguments, words):
    with pytest.raises(ValueError, match=words):
        crop(**arguments)
