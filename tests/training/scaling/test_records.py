"""A file that only grows survives a process that was killed while it wrote."""

import pytest

from training.scaling.records import Records, canonical

pytestmark = pytest.mark.once


def test_rows_are_found_again(tmp_path):
    Records(tmp_path / "rows.jsonl").append({"a": 1})
    records = Records(tmp_path / "rows.jsonl")
    records.append({"b": [2]})
    assert records.rows == Records(tmp_path / "rows.jsonl").rows == [{"a": 1}, {"b": [2]}]


def test_a_line_that_was_cut_short_goes(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"b": ')
    records = Records(path)
    records.append({"c": 3})
    assert path.read_text() == '{"a": 1}\n{"c": 3}\n'


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a"\n{"b": 1}\n')
    with pytest.raises(ValueError, match=r"rows.jsonl is damaged: .*Remove the line, or the file"):
        Records(tmp_path / "rows.jsonl")


def test_the_order_of_keys_does_not_matter():
    assert canonical({"a": 1, "b": {"d": 2, "c": 3}}) == canonical({"b": {"c": 3, "d": 2}, "a": 1})
