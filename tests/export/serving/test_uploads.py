"""Image files from clients: two formats, not too large, not damaged."""

import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

from export.serving import uploads

pytestmark = pytest.mark.once
GREY, COLOUR = (8, 8, 1), (8, 8, 3)


def decode(content, image_shape):
    return uploads.decode(content, image_shape, 25_000_000)


def file(image, kind="PNG", **settings):
    content = io.BytesIO()
    image.save(content, kind, **settings)
    return content.getvalue()


def test_pixels_of_the_right_size_come_as_they_are():
    pixels = np.random.default_rng(0).integers(0, 256, GREY, "uint8")
    np.testing.assert_array_equal(decode(file(Image.fromarray(pixels[..., 0])), GREY), pixels)


def test_other_sizes_and_channels():
    red = Image.new("RGB", (40, 20), (255, 0, 0))
    assert decode(file(red, "JPEG", quality=95), GREY).shape == GREY
    np.testing.assert_allclose(
        decode(file(red, "JPEG", quality=95), COLOUR), np.full(COLOUR, [254, 0, 0]), atol=2
    )
    np.testing.assert_array_equal(decode(file(Image.new("L", (8, 8), 7)), COLOUR), np.full(COLOUR, 7))


def test_a_phone_held_upright():
    lower_half = Image.fromarray(np.repeat([0, 255], 8)[:, np.newaxis].repeat(16, 1).astype("uint8"))
    orientation = Image.Exif()
    orientation[0x0112] = 3  # upside down
    pixels = decode(file(lower_half, "JPEG", exif=orientation), GREY)
    assert pixels[0].min() > 200 and pixels[-1].max() < 50


@pytest.mark.parametrize(
    "content", [b"no image", file(Image.new("L", (8, 8)), "GIF"), file(Image.new("L", (8, 8)))[:20]]
)
def test_no_image(content):
    with pytest.raises(uploads.RefusedError, match="no PNG or JPEG image, or is damaged") as refusal:
        decode(content, GREY)
    assert refusal.value.status == 400


def test_cut_short():
    noise = np.random.default_rng(0).integers(0, 256, (64, 64), "uint8")
    with pytest.raises(
        uploads.RefusedError, match="the image is damaged: image file is truncated"
    ) as refusal:
        decode(file(Image.fromarray(noise))[:2000], GREY)
    assert refusal.value.status == 400


def with_size(width, height):
    """A PNG file that says it is as large as that, and has no pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = b"IDAT" + zlib.compress(b"")
    chunks = [struct.pack(">I", len(c) - 4) + c + struct.pack(">I", zlib.crc32(c)) for c in (header, data)]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("side", [5_001, 10_000, 60_000])  # the last two alarm Pillow itself
@pytest.mark.parametrize("filter", ["error", "ignore"])
def test_bombs_are_not_decoded(side, filter):
    with warnings.catch_warnings():
        warnings.simplefilter(filter)
        with pytest.raises(uploads.RefusedError, match="more than 25,000,000") as refusal:
            decode(with_size(side, side), GREY)
    assert refusal.value.status == 413
