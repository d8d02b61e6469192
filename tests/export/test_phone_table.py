"""Users' reports of phones: added with what a report cannot know, checked, and set in one table."""

import json
import pathlib
import subprocess
import sys

import pytest

from export.phones import results, results_table
from hsvit_runtime.errors import InputError, MissingFileError
from tests.export import reports

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
ABOUT = {"contributor": None, "room_celsius": None, "case": None, "phone_tests": None, "notes": ""}


def report(**device):
    made = reports.phone_report()
    made["device"] |= device
    return made


def lines_of(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_a_report_is_added_and_shown(tmp_path):
    about = {
        "contributor": "Ada",
        "room_celsius": 21.5,
        "case": False,
        "phone_tests": "passed",
        "notes": "Dark.",
    }
    path = results.add(tmp_path, report(), about)
    assert path.parent == tmp_path / "results"
    assert path.name.startswith("maker_phone_7-2026-01-02-") and path.suffix == ".json"
    assert results_table.write(tmp_path) == 1
    _, _, original, mobile = lines_of((tmp_path / "table.md").read_text("utf-8"))
    assert original == (
        "| Maker Phone 7 [1](#1) | Android 15 | TFLite Interpreter 2.16.1 | gpu, ran on cpu | 2 "
        "| original.tflite | 2.000 | original | - |"
    )
    assert mobile.startswith(
        "|  |  | TFLite Interpreter 2.16.1 | gpu, ran on cpu | 2 | mobile.tflite | 1.000 | 0.500 ["
    )
    assert mobile.endswith("| 97.50% |")
    (note,) = (
        line for line in (tmp_path / "table.md").read_text("utf-8").splitlines() if line.startswith("1. ")
    )
    said = "Maker Phone 7, SoC 900, arm64-v8a, 2026-01-02, measured by android\\_demo 1.0, from Ada, room of"
    assert said in note and note.endswith(" 21.5 °C, without a case, tests on the phone passed. Dark.")


def test_wrong_outputs_have_no_speed():
    wrong = report()
    wrong["models"][1]["reference"] = {"right": False}
    (row,) = (
        line for line in lines_of(results_table.table([{**ABOUT, "report": wrong}])) if "mobile" in line
    )
    assert row.endswith("| mobile.tflite | - | - | **wrong** |")
    infinite = report()
    infinite["warnings"] = [{"code": "not_finite", "model": "original.tflite", "message": "it gave NaN"}]
    text = results_table.table([{**ABOUT, "report": infinite}])
    assert "| original.tflite | - | original | **wrong** |" in text
    assert text.endswith("it gave NaN.\n")


def test_what_others_wrote_cannot_break_the_page():
    evil = report(name="A|B <script>\n# [x](javascript:y)")
    text = results_table.table([{**ABOUT, "notes": "two\n\n| lines |", "report": evil}])
    assert all(line.count("|") - line.count("\\|") == 10 for line in lines_of(text))
    assert "<script" not in text and "[x]" not in text and "\n#" not in text.removeprefix("# Phones\n")
    assert "two \\| lines \\|" in text


def test_a_report_is_added_once(tmp_path):
    path = results.add(tmp_path, report(), ABOUT)
    with pytest.raises(
        InputError, match=r"this report is there already, .*maker_phone_7-2026-01-02-\w{8}\.json"
    ):
        results.add(tmp_path, report(), ABOUT | {"notes": "again"})
    path.with_name("copy.json").write_text(path.read_text())
    with pytest.raises(InputError, match=r"maker_phone_7.*json has the report of .*copy\.json"):
        results.read_all(tmp_path)


@pytest.mark.parametrize(
    ("about", "device", "message"),
    [
        ({"room_celsius": 100}, {}, "at room_celsius, 100 is greater than the maximum of 60"),
        ({"phone_tests": "perhaps"}, {}, "at phone_tests, 'perhaps' is not one of"),
        ({}, {"name": None}, "names no device: it was measured on a computer"),
        ({}, {"memory_bytes": -1}, r"does not follow benchmark\.schema\.json: at device\.memory_bytes"),
    ],
)
def test_what_is_not_allowed(tmp_path, about, device, message):
    with pytest.raises(InputError, match=message):
        results.add(tmp_path, report(**device), ABOUT | about)
    assert not list(tmp_path.iterdir())


def test_damaged_results_are_named(tmp_path):
    with pytest.raises(MissingFileError, match="there is no folder"):
        results.add(tmp_path / "absent", report(), ABOUT)
    path = results.add(tmp_path, report(), ABOUT)
    path.write_text(path.read_text().replace('"form_version": 1', '"form_version": 2'))
    with pytest.raises(
        InputError, match=r"maker.*\.json is no result of a phone: .*at form_version, 1 was expected"
    ):
        results_table.write(tmp_path)
    assert not (tmp_path / "table.md").exists()


def test_the_table_of_the_repository_is_up_to_date():
    found = results.read_all(ROOT / "docs/phones")
    assert (ROOT / "docs/phones/table.md").read_text("utf-8") == results_table.table(found)


def test_the_command(tmp_path):
    (tmp_path / "phone.json").write_text(json.dumps(report()))

    def command(*arguments):
        line = [sys.executable, "-m", "export.phone_table", *arguments, f"--folder={tmp_path}"]
        return subprocess.run(line, cwd=ROOT, capture_output=True, text=True)

    done = command("add", f"--report={tmp_path}/phone.json", "--nocase")
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = (tmp_path / "results").iterdir()
    assert done.stdout == f"wrote {path}\nwrote {tmp_path}/table.md, 1 results\n"
    assert json.loads(path.read_text()) == {"form_version": 1, **ABOUT, "case": False, "report": report()}
    (tmp_path / "table.md").write_text("of somebody")
    for arguments, message in [
        (["add"], "add needs --report"),
        (["walk"], "the action is one of add, table; received 'walk'"),
        (["table"], f"cannot write {tmp_path}/table.md"),
    ]:
        done = command(*arguments)
        assert done.returncode == 1 and done.stderr.startswith(f"error: {message}"), done.stderr
