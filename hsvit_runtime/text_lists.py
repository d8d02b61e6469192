"""Lists in text files, a line each, such as labels: whoever wrote them, on whatever system.

They are in UTF-8, with or without a byte order mark, or in UTF-16 with one. Lines end as on Linux, Windows or
an old Mac; blank ones at the end do not count.
"""

import codecs
import re

from hsvit_runtime import input_files
from hsvit_runtime.errors import InputError

_MOST_BYTES = 2**28


def read(path):
    """The lines of a file, without the marks and blanks at their ends.

    Args:
        path: str or path.

    Returns:
        list of str.

    Raises:
        InputError: it is in another encoding, such as Latin-1.
        FileError: it is no ordinary file, too large or cannot be read.
        MissingFileError: it is not there.
    """
    return lines_of(input_files.read(path, most=_MOST_BYTES, may_be_empty=True), path)


def lines_of(content, where):
    """The lines of a text; errors begin with `where`, see `read`.

    Args:
        content: bytes.
        where: str or path, what the text is.
    """
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{where} is written neither in UTF-8 nor in UTF-16, see line {line}: convert it, as by "
            "iconv -f latin1 -t utf-8"
        ) from error
    if "\0" in text:
        raise InputError(f"{where} is no text: it holds zero bytes")
    lines = [line.rstrip() for line in re.split("\r\n|\n|\r", text)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def words_of(lines):
    """All words of some lines, which blanks or ends of lines separate."""
    return [word for line in lines for word in line.split()]
