"""Decoding, converting and resizing single images."""

import numpy as np
import pytest
from PIL import Image

from data_sets.crops import CropOfModel
from data_sets.images import ImageFiles, check_image_shape, resized
from hsvit_runtime.resizing import Resizing
from tests.data_sets.making import write_image

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def read(path):
    return ImageFiles([path])[0]


def stripes(*colours, width=10, height=30):
    """Vertical stripes, each `width` wide."""
    return np.concatenate([np.full((height, width, 3), colour, np.uint8) for colour in colours], axis=1)


def test_colour_and_grey_files_keep_their_channels(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    np.testing.assert_array_equal(read(write_image(tmp_path / "colour.png", pixels)), pixels)
    np.testing.assert_array_equal(read(write_image(tmp_path / "grey.png", pixels[..., 0])), pixels[..., :1])


def test_palette_becomes_colour(tmp_path):
    Image.fromarray(stripes(RED, BLUE)).convert("P").save(tmp_path / "palette.gif")
    pixels = read(tmp_path / "palette.gif")
    assert pixels.shape == (30, 20, 3)
    assert tuple(pixels[0, 0]) == RED
    assert tuple(pixels[0, 19]) == BLUE


def test_black_and_white_becomes_grey(tmp_path):
    Image.fromarray(np.eye(4, dtype=bool)).save(tmp_path / "bits.png")
    np.testing.assert_array_equal(read(tmp_path / "bits.png")[..., 0], np.eye(4) * 255)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "PA"])
def test_transparent_becomes_white(tmp_path, mode):
    """Hidden pixels are mostly black, which would look like content."""
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[:2] = (0, 0, 0, 255)
    image = Image.fromarray(pixels)
    path = tmp_path / ("image.tif" if mode == "PA" else "image.png")
    (image if mode == "RGBA" else image.convert("LA")).save(path)
    result = read(path)
    assert (result[:2] == 0).all()
    assert (result[2:] == 255).all()


def test_transparent_palette_becomes_white(tmp_path):
    image = Image.fromarray(stripes(RED, BLUE)).convert("P", palette=Image.Palette.ADAPTIVE, colors=2)
    hidden = image.getpixel((0, 0))
    image.save(tmp_path / "image.png", transparency=bytes(0 if i == hidden else 255 for i in range(2)))
    result = read(tmp_path / "image.png")
    assert (result[:, :10] == 255).all()
    assert (result[:, 10:] == BLUE).all()


def test_sixteen_bits_become_eight(tmp_path):
    """The high byte counts; Pillow's own conversion would clip 256 and more to white."""
    Image.fromarray(np.array([[0, 255, 256, 0x1234, 0xFFFF]], np.uint16)).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(read(tmp_path / "deep.png")[..., 0], [[0, 0, 1, 0x12, 255]])


def test_floating_point_pixels_are_refused(tmp_path):
    Image.fromarray(np.zeros((2, 2), np.float32)).save(tmp_path / "depth.tif")
    with pytest.raises(OSError, match=r"depth.tif: floating-point pixels have no known range"):
        read(tmp_path / "depth.tif")


def test_sideways_photo_is_turned_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned by 90 degrees: the left column is the top row
    path = write_image(tmp_path / "photo.png", stripes(RED, GREEN, BLUE, height=40), exif=exif)
    upright = read(path)
    assert upright.shape == (30, 40, 3)
    assert [tuple(upright[row, 0]) for row in (5, 15, 25)] == [RED, GREEN, BLUE]


@pytest.mark.parametrize(
    "content", [b"", b"<html>not found</html>", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"]
)
def test_file_that_is_no_image_is_named(tmp_path, content):
    path = tmp_path / "broken.png"
    path.write_bytes(content)
    with pytest.raises(OSError, match=f"cannot read the image {path}: "):
        read(path)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".gif", ".bmp", ".webp", ".tif"])
def test_truncated_image_is_named(tmp_path, suffix):
    pixels = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    path = write_image(tmp_path / f"cut{suffix}", pixels)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for decode in (read, lambda path: resized(ImageFiles([path]), 0, (8, 8, 3))):
        with pytest.raises(OSError, match=f"cannot read the image {path}: "):
            decode(path)


def test_image_too_large_to_be_true_is_named(tmp_path, monkeypatch):
    path = write_image(tmp_path / "bomb.png", np.zeros((100, 100), np.uint8))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(OSError, match=r"cannot read the image .*bomb.png: .*decompression bomb"):
        read(path)


def test_grey_to_colour_repeats_the_channel():
    images = np.random.default_rng(0).integers(0, 256, (1, 6, 6, 1), dtype=np.uint8)
    result = resized(images, 0, (6, 6, 3))
    np.testing.assert_array_equal(result, np.repeat(images[0], 3, axis=-1))


def test_colour_to_grey_weighs_the_channels():
    """ITU-R 601 luma: 0.299 R + 0.587 G + 0.114 B."""
    images = np.array([[[RED, GREEN, BLUE, (255, 255, 255)]]], np.uint8)
    assert resized(images, 0, (1, 4, 1))[0, :, 0].tolist() == [76, 150, 29, 255]


def test_same_shape_changes_nothing():
    images = np.random.default_rng(0).integers(0, 256, (2, 9, 5, 3), dtype=np.uint8)
    np.testing.assert_array_equal(resized(images, 1, (9, 5, 3)), images[1])


def test_halving_averages():
    """Antialiased: bilinear at half size weighs 1, 3, 3, 1 eighths of each four neighbours."""
    images = np.array([0, 0, 0, 0, 80, 80, 80, 80], np.uint8).reshape(1, 1, 8, 1)
    result = resized(images, 0, (1, 4, 1))[0, :, 0]
    assert result.tolist() == [0, 10, 70, 80]


def test_enlarging_interpolates():
    """Pixel centres at a quarter and three quarters between the old ones; the border is repeated."""
    images = np.array([0, 100], np.uint8).reshape(1, 1, 2, 1)
    assert resized(images, 0, (1, 4, 1))[0, :, 0].tolist() == [0, 25, 75, 100]


def test_fine_stripes_become_grey_instead_of_noise():
    images = np.tile(np.array([0, 255], np.uint8), 64).reshape(1, 1, 128, 1)
    images = np.repeat(images, 128, axis=1)
    result = resized(images, 0, (16, 16, 1))
    assert abs(result[4:-4, 4:-4].astype(int) - 127).max() <= 2


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_files_keep_their_aspect_and_lose_their_margins(tmp_path, suffix):
    """A photo three times as wide as high: a square of it is the middle third."""
    options = {"quality": 100, "subsampling": 0} if suffix == ".jpg" else {}
    path = write_image(tmp_path / f"wide{suffix}", stripes(RED, GREEN, BLUE, width=64, height=64), **options)
    for size in (16, 64):
        result = resized(ImageFiles([path]), 0, (size, size, 3))
        assert result.shape == (size, size, 3)
        inner = result[:, 2:-2].astype(int)  # bilinear filtering mixes the stripes at their seams
        assert abs(inner - GREEN).max() <= 3


def test_high_files_are_cropped_above_and_below(tmp_path):
    path = write_image(
        tmp_path / "high.png", stripes(RED, GREEN, BLUE, width=20, height=20).transpose(1, 0, 2)
    )
    result = resized(ImageFiles([path]), 0, (20, 20, 3))
    assert (result == GREEN).all()


def test_array_images_are_stretched():
    """Nothing of a digit is cut off when the model's input is no square."""
    images = stripes(RED, GREEN, BLUE, width=10, height=30)[np.newaxis]
    result = resized(images, 0, (30, 60, 3))
    assert [tuple(result[15, column]) for column in (10, 30, 50)] == [RED, GREEN, BLUE]


def test_large_jpeg_decoded_small_looks_the_same(tmp_path):
    """Decoding at a fraction is a short cut only: within a few levels of decoding all of it."""
    rows, columns = np.mgrid[0:512, 0:768] / 40
    smooth = 128 + 60 * np.stack([np.sin(rows), np.cos(columns), np.sin(rows + columns)], axis=-1)
    path = write_image(tmp_path / "photo.jpg", smooth.astype(np.uint8), quality=95)
    result = resized(ImageFiles([path]), 0, (64, 64, 3))
    full = Image.fromarray(read(path)).crop((128, 0, 640, 512)).resize((64, 64), Image.Resampling.BILINEAR)
    assert abs(result.astype(int) - np.asarray(full)).max() <= 4


def test_a_model_may_ask_for_a_margin_that_is_cut_off():
    """Its shorter side at 6 pixels, then the centre of 4 x 4."""
    images = np.arange(6 * 9, dtype=np.uint8).reshape(1, 6, 9, 1)
    result = resized(images, 0, (4, 4, 1), CropOfModel(Resizing("bicubic", 6)))
    np.testing.assert_array_equal(result, images[0, 1:5, 2:6])


def test_black_around_a_picture_that_is_smaller_than_asked_for(tmp_path):
    pixels = np.full((2, 3, 3), 9, np.uint8)
    path = write_image(tmp_path / "small.png", pixels)
    result = resized(ImageFiles([path]), 0, (4, 4, 3), CropOfModel(Resizing()))
    expected = np.zeros((4, 4, 3), np.uint8)
    expected[1:3, 1:4] = 9
    np.testing.assert_array_equal(result, expected)


def test_a_jpeg_that_is_cut_alone_is_decoded_whole(tmp_path):
    path = write_image(tmp_path / "photo.jpg", stripes(RED, GREEN, BLUE, width=80, height=240), quality=95)
    result = resized(ImageFiles([path]), 0, (16, 16, 3), CropOfModel(Resizing()))
    assert abs(result.astype(int) - GREEN).max() <= 3


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((32, 32, 2), r"image_shape=\(32, 32, 2\): images have 1 channel \(grey\) or 3 \(RGB\), not 2"),
        ((32, 32, 4), "not 4"),
        ((32, 32), r"image_shape=\(32, 32\) must be \(height, width, channels\)"),
        ((0, 32, 3), "all positive"),
        ((-1, 32, 3), "all positive"),
    ],
)
def test_wrong_image_shape(shape, message):
    with pytest.raises(ValueError, match=message):
        check_image_shape(shape)
