"""A file that only grows survives a process that was killed while it wrote."""

import re

import pytest

from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import NUMBER, partial
from training.scaling.records import Records, canonical

pytestmark = pytest.mark.once
ROW = partial(a=NUMBER)


def test_rows_are_found_again(tmp_path):
    Records(tmp_path / "rows.jsonl", ROW).append({"a": 1})
    records = Records(tmp_path / "rows.jsonl", ROW)
    records.append({"b": [2]})
    assert records.rows == Records(tmp_path / "rows.jsonl", ROW).rows == [{"a": 1}, {"b": [2]}]


def test_a_line_that_was_cut_short_goes(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"b": ')
    records = Records(path, ROW)
    records.append({"c": 3})
    assert path.read_text() == '{"a": 1}\n{"c": 3}\n'


@pytest.mark.parametrize(
    "line, fault",
    [
        (b'{"a"', "is no JSON: "),
        (b'{"a": "one"}', "a is wrong: 'one' is not of type 'number'"),
        (b'{"a": NaN}', "holds NaN"),
        (b"\xff", "not written in UTF-8"),
    ],
)
def test_a_damaged_line_is_named(line, fault, tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(b'{"b": 1}\n' + line + b"\n")
    with pytest.raises(
        InputError, match=rf"line 2 of .*rows.jsonl.* {re.escape(fault)}.*Remove the line, or the file"
    ):
        Records(tmp_path / "rows.jsonl", ROW)


def test_the_order_of_keys_does_not_matter():
    assert canonical({"a": 1, "b": {"d": 2, "c": 3}}) == canonical({"b": {"c": 3, "d": 2}, "a": 1})
