"""Where the official files of a set are, or the one error that they are missing."""

from hsvit_runtime.errors import MissingFileError


def find_folder(data_dir, name, marker):
    """Finds a set's folder, whether `data_dir` holds it or is it.

    Args:
        data_dir: path, or None.
        name: the folder's official name.
        marker: a file or folder that must be in it.

    Returns:
        The folder's path, or None if there is none.
    """
    if data_dir is None:
        return None
    for folder in (data_dir / name, data_dir):
        if (folder / marker).exists():
            return folder
    return None


def missing(title, data_dir, expected, source):
    """Says which set is missing, where it was looked for, and what is expected there.

    Args:
        title: the set's usual name.
        data_dir: path of the folder looked in, or None if none was given.
        expected: the file names that would be right, in words.
        source: who publishes the set.

    Returns:
        A MissingFileError to raise.
    """
    if data_dir is None:
        looked = "because no data_dir was given (--data_dir=DIR)"
    elif not data_dir.is_dir():
        looked = f"in {data_dir}, a folder that does not exist"
    else:
        looked = f"in {data_dir}"
    return MissingFileError(f"{title} was not found {looked}: expected {expected}. Source: {source}")
