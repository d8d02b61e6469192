"""Kinds of pixels that picture files hold: deep, transparent, printed, animated, turned."""

import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from data_sets.images import ImageFiles, resized


def read(path):
    return ImageFiles([path])[0]


def png(depth, colour_type, rows, transparency=None):
    """A PNG written by hand, for what Pillow cannot write: rows (height, width, samples) of 8 or 16 bits."""
    rows = np.asarray(rows, f">u{depth // 8}")
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], depth, colour_type, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    if transparency is not None:
        chunks.insert(1, (b"tRNS", np.asarray(transparency, ">u2").tobytes()))
    packed = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


_SHORT, _LONG = 3, 4


def tiff(bits, sample_format, photometric, data):
    """A grey TIFF of one row of 4 pixels, written by hand."""
    tags = [
        (256, _SHORT, 4), (257, _SHORT, 1), (258, _SHORT, bits), (259, _SHORT, 1), (262, _SHORT, photometric),
        (273, _LONG, 8), (277, _SHORT, 1), (278, _SHORT, 1), (279, _LONG, len(data)),
        (339, _SHORT, sample_format),
    ]  # fmt: skip
    padded = data + b"\0" * (len(data) % 2)
    entries = b"".join(
        struct.pack("<HHI", tag, kind, 1) + struct.pack("<I", value) for tag, kind, value in tags
    )
    head = b"II*\0" + struct.pack("<I", 8 + len(padded))
    return head + padded + struct.pack("<H", len(tags)) + entries + struct.pack("<I", 0)


UNSIGNED, SIGNED, FLOAT = 1, 2, 3
WHITE_IS_ZERO, BLACK_IS_ZERO = 0, 1
DEEP = [0, 256, 0x1234, 0xFFFF]


def test_sixteen_bit_tiff(tmp_path):
    path = tmp_path / "deep.tif"
    path.write_bytes(tiff(16, UNSIGNED, BLACK_IS_ZERO, np.array(DEEP, "<u2").tobytes()))
    assert read(path).ravel().tolist() == [0, 1, 0x12, 255]


def test_sixteen_bit_negative_tiff(tmp_path):
    """Where zero is white, Pillow turns 8 bits over, but not 16."""
    path = tmp_path / "negative.tif"
    path.write_bytes(tiff(16, UNSIGNED, WHITE_IS_ZERO, np.array(DEEP, "<u2").tobytes()))
    assert read(path).ravel().tolist() == [255, 254, 255 - 0x12, 0]


def test_twelve_bits_of_a_camera_or_scanner_are_not_dark(tmp_path):
    path = tmp_path / "scan.tif"
    path.write_bytes(tiff(12, UNSIGNED, BLACK_IS_ZERO, bytes([0x00, 0x08, 0x00, 0xFF, 0xFF, 0xF0])))
    assert read(path).ravel().tolist() == [0, 128, 255, 255]


@pytest.mark.parametrize(
    ("bits", "sample_format", "values"),
    [
        (32, FLOAT, np.array([0, 0.25, 0.5, 1], "<f4")),
        (32, UNSIGNED, np.array([0, 1, 2, 2**32 - 1], "<u4")),
        (32, SIGNED, np.array([0, 1, 2, 3], "<i4")),
        (16, SIGNED, np.array([-5, 1, 2, 3], "<i2")),
        (64, FLOAT, np.array([0, 0.25, 0.5, 1], "<f8")),
    ],
)
def test_pixels_without_a_known_range_are_refused_and_not_black(tmp_path, bits, sample_format, values):
    path = tmp_path / "depth.tif"
    path.write_bytes(tiff(bits, sample_format, BLACK_IS_ZERO, values.tobytes()))
    reason = (
        "it is damaged, or of no known format"
        if bits == 64
        else ".*have no known range, expected 8 or 16 bits"
    )
    with pytest.raises(OSError, match=f"cannot read the image {path}: {reason}"):
        read(path)


@pytest.mark.parametrize(
    ("colour_type", "samples", "expected"),
    [
        (0, [0x1234], [0x12]),
        (2, [0x1234, 0x5678, 0x9ABC], [0x12, 0x56, 0x9A]),
        (4, [0x1234, 0xFFFF], [0x12, 0x12, 0x12]),
        (4, [0x1234, 0], [255, 255, 255]),
        (6, [0x1234, 0x5678, 0x9ABC, 0xFFFF], [0x12, 0x56, 0x9A]),
        (6, [0x1234, 0x5678, 0x9ABC, 0], [255, 255, 255]),
    ],
)
def test_sixteen_bit_png(tmp_path, colour_type, samples, expected):
    path = tmp_path / "deep.png"
    path.write_bytes(png(16, colour_type, [[samples, samples]]))
    assert read(path).tolist() == [[expected, expected]]


@pytest.mark.parametrize(
    ("depth", "colour_type", "hidden", "shown"),
    [
        (8, 0, [7], [9]),
        (8, 2, [7, 8, 9], [9, 8, 7]),
        (16, 0, [0x0123], [0x4567]),
        (16, 2, [0x0123, 0x4567, 0x89AB], [0x4567, 0x89AB, 0x0123]),
    ],
)
def test_the_one_transparent_colour_of_a_png_becomes_white(tmp_path, depth, colour_type, hidden, shown):
    path = tmp_path / "logo.png"
    path.write_bytes(png(depth, colour_type, [[hidden, shown]], hidden))
    pixels = read(path)
    assert (pixels[0, 0] == 255).all()
    assert set(pixels[0, 1].tolist()) == {value >> (depth - 8) for value in shown}


def test_printed_colours_of_a_jpeg(tmp_path):
    """Ink of cyan takes red away. The file holds it inverted, as Adobe's programs began to."""
    image = Image.new("CMYK", (32, 32), (0, 255, 255, 0))
    image.paste((255, 0, 0, 128), (16, 0, 32, 32))
    image.save(tmp_path / "print.jpg", quality=95)
    for pixels in (
        read(tmp_path / "print.jpg"),
        resized(ImageFiles([tmp_path / "print.jpg"]), 0, (32, 32, 3)),
    ):
        assert abs(pixels[16, 4].astype(int) - (255, 0, 0)).max() <= 4
        assert abs(pixels[16, 28].astype(int) - (0, 127, 127)).max() <= 4


@pytest.mark.parametrize("suffix", [".gif", ".webp", ".png", ".tif"])
def test_first_picture_of_several(tmp_path, suffix):
    first, second = (Image.new("RGB", (8, 8), colour) for colour in ("red", "blue"))
    options = {"lossless": True} if suffix == ".webp" else {}
    first.save(tmp_path / f"many{suffix}", save_all=True, append_images=[second], **options)
    assert (read(tmp_path / f"many{suffix}") == (255, 0, 0)).all()


def test_transparent_animation_begins_white(tmp_path):
    frames = [Image.new("RGBA", (8, 8), (0, 0, 0, 0)) for _ in range(2)]
    for place, frame in enumerate(frames):
        frame.paste((0, 0, 255, 255), (4 * place, 0, 4 * place + 4, 8))
    frames[0].save(tmp_path / "many.gif", save_all=True, append_images=frames[1:])
    pixels = read(tmp_path / "many.gif")
    assert (pixels[:, :4] == (0, 0, 255)).all()
    assert (pixels[:, 4:] == 255).all()


# Where the first row and the first column of the stored image are when it is shown, by the EXIF standard.
ORIENTATIONS = {
    1: lambda pixels: pixels,
    2: lambda pixels: pixels[:, ::-1],
    3: lambda pixels: pixels[::-1, ::-1],
    4: lambda pixels: pixels[::-1],
    5: lambda pixels: pixels.T,
    6: lambda pixels: np.rot90(pixels, -1),
    7: lambda pixels: np.rot90(pixels, 2).T,
    8: lambda pixels: np.rot90(pixels),
}


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".tif"])
@pytest.mark.parametrize("orientation", list(ORIENTATIONS))
def test_orientations(tmp_path, suffix, orientation):
    pixels = np.kron([[0, 80, 160], [250, 200, 120]], np.ones((16, 16))).astype(np.uint8)
    path = tmp_path / f"photo{suffix}"
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {".webp": {"lossless": True}, ".jpg": {"quality": 100}}.get(suffix, {})
    Image.fromarray(pixels).save(path, exif=exif, **options)
    shown = ORIENTATIONS[orientation](pixels).astype(int)
    assert abs(read(path)[..., 0] - shown).max() <= 2


@pytest.mark.parametrize("orientation", [3, 6])
def test_deep_image_is_turned(tmp_path, orientation):
    pixels = np.array([[0, 0x1000, 0x2000], [0x4000, 0x8000, 0xFFFF]], np.uint16)
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(pixels).save(tmp_path / "deep.png", exif=exif)
    np.testing.assert_array_equal(read(tmp_path / "deep.png")[..., 0], ORIENTATIONS[orientation](pixels) >> 8)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"P5 2 1 65535\n\x12\x34\xff\xff", [[[0x12], [255]]]),
        (b"P5 2 1 4095\n\x08\x00\x0f\xff", [[[128], [255]]]),
        (b"P6 1 1 65535\n\x12\x34\x56\x78\x9a\xbc", [[[0x12, 0x56, 0x9A]]]),
        (b"P4 8 1\n\xaa", [[[0], [255]] * 4]),
    ],
)
def test_portable_maps(tmp_path, content, expected):
    (tmp_path / "map.pnm").write_bytes(content)
    assert read(tmp_path / "map.pnm").tolist() == expected


def test_lab_tiff(tmp_path):
    """A lightness of 50 % without hue is the sRGB grey of 119."""
    Image.new("LAB", (8, 8), (128, 128, 128)).save(tmp_path / "lab.tif")
    assert abs(read(tmp_path / "lab.tif").astype(int) - 119).max() <= 2


def test_a_file_of_another_kind_is_refused_whatever_its_name(tmp_path):
    """Pillow would start Ghostscript for this."""
    (tmp_path / "photo.jpg").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n")
    with pytest.raises(OSError, match=r"cannot read the image .*photo.jpg: it is damaged, or of no known"):
        read(tmp_path / "photo.jpg")


@pytest.mark.parametrize("suffix", [".jpg", ".tif", ".png"])
def test_the_centre_of_a_turned_image_is_cropped(tmp_path, suffix):
    """Stored 96 wide and 32 high, shown upright: the middle third is kept, which is one colour."""
    pixels = np.kron([[60, 120, 180]], np.ones((32, 32))).astype(np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(pixels).save(tmp_path / f"high{suffix}", exif=exif)
    result = resized(ImageFiles([tmp_path / f"high{suffix}"]), 0, (16, 16, 1))
    assert abs(result[1:-1].astype(int) - 120).max() <= 4
