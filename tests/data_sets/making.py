"""Makes tiny image files and sets in the official formats."""

import gzip
import io
import struct
import tarfile

import numpy as np
from PIL import Image


def write_image(path, pixels, **options):
    """Writes uint8 pixels (H, W) or (H, W, 3), or of one colour when given (r, g, b), as an image file."""
    if isinstance(pixels, tuple):
        pixels = np.full((8, 8, 3), pixels, np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return path


def write_class_folder(folder, count, value=128, suffix=".png"):
    """Writes `count` grey images with names 0.png, 1.png, ... and returns the folder."""
    for number in range(count):
        write_image(folder / f"{number}{suffix}", np.full((8, 8), value, np.uint8))
    return folder


def idx_bytes(array):
    """The idx format: two zero bytes, the type (8: unsigned bytes), the rank, big-endian sizes, data."""
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return header + array.astype(np.uint8).tobytes()


def write_fashion_mnist(folder, split, images, labels, compressed=True):
    """Writes both files of a part of Fashion-MNIST."""
    write_idx_pair(folder, {"train": "train", "test": "t10k"}[split], images, labels, compressed)


def write_idx_pair(folder, prefix, images, labels, compressed=True):
    """Writes PREFIX-images-idx3-ubyte and PREFIX-labels-idx1-ubyte."""
    for name, array in (("images-idx3", images), ("labels-idx1", labels)):
        content = idx_bytes(np.asarray(array))
        path = folder / f"{prefix}-{name}-ubyte"
        if compressed:
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(content))
        else:
            path.write_bytes(content)


def python2_pickle(item):
    """Pickles as Python 2 with protocol 2 did, which is what the official CIFAR files are.

    Handles bytes (Python 2's str), ints, lists, dicts and two-dimensional uint8 arrays.
    """
    return b"\x80\x02" + _python2(item) + b"."


def _python2(item):
    if isinstance(item, bytes):
        return b"T" + struct.pack("<i", len(item)) + item
    if isinstance(item, int):
        return b"J" + struct.pack("<i", item)
    if isinstance(item, list):
        return b"](" + b"".join(map(_python2, item)) + b"e"
    if isinstance(item, dict):
        return b"}(" + b"".join(_python2(key) + _python2(value) for key, value in item.items()) + b"u"
    is_fortran = item.flags.f_contiguous and not item.flags.c_contiguous
    empty = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    dtype = b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    shape = b"".join(map(_python2, item.shape)) + b"\x86"
    state = b"K\x01" + shape + dtype + (b"\x88" if is_fortran else b"\x89")
    return empty + b"(" + state + _python2(item.tobytes("A")) + b"tb"


def write_archive(path, files):
    """Writes {name: bytes} as a .tar.gz."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def write_files(folder, files):
    """Writes {name: bytes} below a folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
