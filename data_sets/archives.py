"""Zip and tar files as folders that are read in place: nothing is unpacked, and each file is read by itself.

A zip has a directory at its end; the members of a tar are looked through once. A compressed tar is one
stream, in which a file can only be reached by decompressing all before it: it is refused.
"""

import dataclasses
import functools
import io
import os
import struct
import tarfile
import zipfile
import zlib

from hsvit_runtime import input_files
from hsvit_runtime.errors import FileError, InputError

# Bytes that a file begins with which is compressed as a whole: gzip, bzip2, xz, Zstandard.
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")

_IS_ENCRYPTED, _HAS_UNICODE_NAME = 0x1, 0x800  # flags of a member of a zip
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # its mark and the lengths of two fields that follow


@dataclasses.dataclass(frozen=True, slots=True)
class _Stored:
    """Where a tar has a file as it is."""

    offset: int
    size: int

    def read(self, file):
        file.seek(self.offset)
        return file.read(self.size)


@dataclasses.dataclass(frozen=True, slots=True)
class _Zipped:
    """Where a zip has a file, perhaps deflated, with the checksum of its content."""

    header: int
    compressed_size: int
    size: int
    checksum: int
    is_deflated: bool

    def read(self, file):
        file.seek(self.header)
        mark, *lengths = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        file.seek(sum(lengths), os.SEEK_CUR)
        content = file.read(self.compressed_size)
        if self.is_deflated:
            content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, self.size or 1)
        if mark != b"PK\3\4" or zlib.crc32(content) != self.checksum:
            raise FileError("the archive is damaged here: the checksum does not fit")
        return content


@dataclasses.dataclass(frozen=True, eq=False)
class Archive:
    """An archive's index.

    Attributes:
        path: str.
        files: dict from a file's name in the archive to where it is.
        folders: dict from a folder's name, "" for the outermost, to {name of what is in it: is it a folder}.
    """

    path: str
    files: dict = dataclasses.field(repr=False)
    folders: dict = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True)
class ArchiveFolder:
    """A folder in an archive, with what `data_sets.folders` needs of a `pathlib.Path`."""

    archive: Archive
    name: str = ""

    def __truediv__(self, name):
        return ArchiveFolder(self.archive, _joined(self.name, name))

    def __str__(self):
        return os.path.join(self.archive.path, self.name)

    def is_dir(self):
        return self.name in self.archive.folders

    def entries(self):
        """(name, whether it is a folder) of everything in it."""
        return self.archive.folders[self.name].items()

    def file(self, name):
        return ArchiveFile(self.archive, _joined(self.name, name))


@dataclasses.dataclass(frozen=True, slots=True)
class ArchiveFile:
    """A file in an archive. It can be read in any thread or process."""

    archive: Archive
    name: str

    def __str__(self):
        return os.path.join(self.archive.path, self.name)

    def open(self):
        """Its content, as `open` gives that of a file."""
        with open(self.archive.path, "rb") as file:
            return io.BytesIO(self.archive.files[self.name].read(file))


def open_archive(path):
    """Opens an archive as a folder.

    Args:
        path: path of a .zip or an uncompressed .tar.

    Returns:
        The `ArchiveFolder` of all that is in it.

    Raises:
        InputError: the file is no such archive, is compressed as a whole or damaged, or holds what cannot be
            read.
        OSError: it cannot be opened.
    """
    state = os.stat(input_files.check(path, "archive", may_be_empty=True))
    return ArchiveFolder(_index(str(path), state.st_size, state.st_mtime_ns))


@functools.lru_cache(maxsize=2)
def _index(path, *_):
    """The `Archive` in a file; the other arguments tell whether it is still the same."""
    with open(path, "rb") as file:
        begin = file.read(6)
    if begin.startswith(_COMPRESSED):
        raise InputError(
            f"{path} is compressed as a whole, so that no image in it can be read by itself: unpack it, "
            "or make an uncompressed .tar or a .zip of it"
        )
    try:
        members = _zip_members(path) if zipfile.is_zipfile(path) else _tar_members(path)
        archive = Archive(path, {}, {"": {}})
        for name, place in members:
            _add(archive, name, place)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(
            f"{path} is neither a .zip nor a .tar of a folder, or is damaged: {error}"
        ) from error
    return archive


def _add(archive, name, place):
    """Adds a member, None being the place of a folder, and the folders that it is in."""
    folders = [part for part in name.split("/") if part not in ("", ".")]
    last = folders.pop() if place is not None else None
    inside = ""
    for folder in folders:
        archive.folders[inside].setdefault(folder, True)
        inside = _joined(inside, folder)
        archive.folders.setdefault(inside, {})
    if place is not None:
        archive.folders[inside][last] = False
        archive.files[_joined(inside, last)] = place


def _joined(folder, name):
    return f"{folder}/{name}" if folder else name


def _zip_members(path):
    """(name, place) of all members."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            name = _zip_name(member)
            if member.is_dir():
                yield name, None
                continue
            if member.flag_bits & _IS_ENCRYPTED:
                raise InputError(f"{path}: {name} is encrypted: unpack the archive")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(
                    f"{path}: {name} is compressed by method {member.compress_type}, expected stored (0) or "
                    "deflated (8)"
                )
            yield (
                name,
                _Zipped(
                    member.header_offset,
                    member.compress_size,
                    member.file_size,
                    member.CRC,
                    member.compress_type == zipfile.ZIP_DEFLATED,
                ),
            )


def _zip_name(member):
    """A member's name; zipfile reads one whose encoding is not said as code page 437, and most are UTF-8."""
    if member.flag_bits & _HAS_UNICODE_NAME:
        return member.filename
    return member.orig_filename.encode("cp437").decode("utf-8", "surrogateescape")


def _tar_members(path):
    """(name, place) of all members."""
    places = {}
    with tarfile.open(path, "r:") as archive:
        while (member := archive.next()) is not None:
            archive.members.clear()  # of a million images they would take a gigabyte
            if member.isdir():
                yield member.name, None
                continue
            if member.isreg() and not member.issparse():
                places[member.name] = _Stored(member.offset_data, member.size)
            elif member.islnk() and member.linkname in places:
                places[member.name] = places[member.linkname]
            else:
                raise InputError(
                    f"{path}: {member.name} is a link or of another kind than file and folder: unpack the "
                    "archive, or pack it with tar --dereference"
                )
            yield member.name, places[member.name]
