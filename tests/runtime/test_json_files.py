"""JSON that others wrote or damaged is read, or refused in one line that says where it is wrong."""

import os

import pytest

from hsvit_runtime import json_files
from hsvit_runtime.errors import FileError, InputError, MissingFileError

pytestmark = pytest.mark.once
SCHEMA = {
    "type": "object",
    "required": ["rows"],
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"ms": {"type": "number", "minimum": 0}},
                "required": ["ms"],
            },
        }
    },
}


def test_what_is_right(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"rows": [{"ms": 1.5e3}], "name": "\xc3\xa4"}')
    assert json_files.read(path, SCHEMA) == {"rows": [{"ms": 1500.0}], "name": "ä"}


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", r"a\.json is no JSON: expecting value at line 1, column 1$"),
        (b'{"rows":\n [}', r"is no JSON: expecting value at line 2, column 3$"),
        ("{}".encode("utf-16"), "is no JSON: it is not written in UTF-8, see byte 0$"),
        (b"[" * 100_000, "is nested too deeply$"),
        (b'{"rows": [{"ms": NaN}]}', "holds NaN, which is no number of JSON$"),
        (b'{"rows": [{"ms": -Infinity}]}', "holds -Infinity, which"),
        (b'{"rows": [{"ms": 1e999}]}', "holds 1e999, which is too large"),
        (b'{"rows": [{"ms": ' + b"9" * 5000 + b"}]}", r"holds 9{40}, which is too large"),
        (b"[]", r"a\.json: the whole is wrong: \[\] is not of type 'object'$"),
        (b"{}", "the whole is wrong: 'rows' is a required property$"),
        (b'{"rows": [{"ms": 1}, {"ms": -1}]}', r"rows\[1\]\.ms is wrong: -1 is less than the minimum of 0$"),
        (b'{"rows": [{"ms": "fast"}]}', r"rows\[0\]\.ms is wrong: 'fast' is not of type 'number'$"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(content, words, tmp_path):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InputError, match=words) as raised:
        json_files.read(tmp_path / "a.json", SCHEMA)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 400


def test_what_is_no_file(tmp_path):
    with pytest.raises(MissingFileError, match=r"there is no file .*none\.json"):
        json_files.read(tmp_path / "none.json")
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(FileError, match="it is a folder, a file is needed"):
        json_files.read(tmp_path)
    for path in ("/dev/zero", tmp_path / "pipe.json"):
        with pytest.raises(FileError, match="it is no ordinary file"):
            json_files.read(path)


def test_what_is_too_large(tmp_path):
    with open(tmp_path / "large.json", "wb") as file:
        file.truncate(json_files.MOST_BYTES + 1)
    with pytest.raises(FileError, match="it has 536,870,913 bytes; at most 536,870,912 are read"):
        json_files.read(tmp_path / "large.json")
