"""What is in a folder, be it on disk or in an archive: names in order, hidden ones left out."""

import os

from data_sets.archives import ArchiveFolder, open_archive
from hsvit_runtime.errors import InputError

# Folders that systems put beside what people put there.
_OF_SYSTEMS = ("__MACOSX", "@eaDir", "$RECYCLE.BIN", "System Volume Information")


def folder_in_archive(path):
    """Opens an archive as a folder; where there is one folder alone in it, as there mostly is, that folder.

    Args:
        path: path of a .zip or an uncompressed .tar.

    Raises:
        InputError: the archive cannot be read in place.
    """
    folder = open_archive(path)
    while len(entries := _entries(folder)) == 1:
        (name, is_folder), *_ = entries
        if not is_folder or name == "train":  # a part of a set of class folders
            break
        folder = folder / name
    return folder


def subfolders(folder):
    """The sorted names of the folders in `folder`, hidden ones left out; empty if it is not there.

    Raises:
        InputError: a name is not UTF-8.
    """
    return tuple(name for name, is_folder in _entries(folder) if is_folder) if folder.is_dir() else ()


def file_names(folder):
    """The sorted names of the files in `folder`, hidden ones left out.

    Raises:
        InputError: a name is not UTF-8.
        OSError: there is no such folder.
    """
    return [name for name, is_folder in _entries(folder) if not is_folder]


def file_in(folder, name):
    """A file in a folder: its path as str, or an `ArchiveFile`."""
    return folder.file(name) if isinstance(folder, ArchiveFolder) else os.path.join(folder, name)


def walk(folder):
    """All files in a folder and in those inside of it, hidden ones left out, as `file_in` gives them."""
    for name in file_names(folder):
        yield file_in(folder, name)
    for name in subfolders(folder):
        yield from walk(folder / name)


def _entries(folder):
    """The sorted (name, whether it is a folder) of what is not hidden."""
    if isinstance(folder, ArchiveFolder):
        entries = folder.entries()
    else:
        with os.scandir(folder) as scan:
            entries = [(entry.name, entry.is_dir()) for entry in scan]
    visible = sorted((name, is_folder) for name, is_folder in entries if not _is_hidden(name))
    for name, _ in visible:
        _check_name(folder, name)
    return visible


def _is_hidden(name):
    return name.startswith(".") or name in _OF_SYSTEMS


def _check_name(folder, name):
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{folder} holds {os.fsencode(name)!r}, a name that is not UTF-8: rename it"
        ) from None
