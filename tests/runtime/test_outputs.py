"""What a command may write over."""

import pytest

from hsvit_runtime import outputs
from hsvit_runtime.errors import FileError, MissingFileError

pytestmark = pytest.mark.once
BENCHMARK = outputs.json_with("models", "pairs")


def test_new_empty_and_own_files_may_be_written(tmp_path):
    own, empty = tmp_path / "own.json", tmp_path / "empty.json"
    own.write_text('{"models": [], "pairs": [], "more": 1}')
    empty.touch()
    for path in (None, own, empty, str(tmp_path / "new.json")):
        outputs.check(path, BENCHMARK)


@pytest.mark.parametrize(
    "content",
    [b'{"models": []}', b'["models", "pairs"]', b"models pairs", b"\xff\xfe", b"[" * 100_000],
    ids=["config", "list", "text", "bytes", "nested"],
)
def test_other_files_are_kept(content, tmp_path):
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"other\.json: the file there is no report with 'models' and"):
        outputs.check(path, BENCHMARK)


@pytest.mark.parametrize(
    "kind, own, other",
    [
        (outputs.PICTURE, b"\x89PNG\r\n\x1a\nIHDR", b"\xff\xd8\xff\xe0"),
        (outputs.PAGE, b"<html><head>" + outputs.PAGE_MARK, b"<html><head><title>Mine</title>"),
    ],
    ids=["picture", "page"],
)
def test_pictures_and_pages(kind, own, other, tmp_path):
    path = tmp_path / f"output{kind.suffix}"
    path.write_bytes(own)
    outputs.check(path, kind)
    path.write_bytes(other)
    with pytest.raises(FileError, match=f"the file there is no {kind.name} and would be lost"):
        outputs.check(path, kind)


def test_what_is_read_is_not_written(tmp_path):
    path, link = tmp_path / "report.json", tmp_path / "link.json"
    path.write_text('{"models": [], "pairs": []}')
    link.symlink_to(path)
    for output in (path, link, tmp_path / ".." / tmp_path.name / "report.json"):
        with pytest.raises(FileError, match=r"\.json: the command reads it; choose another output"):
            outputs.check(output, BENCHMARK, reads=[tmp_path / "missing.keras", path])


def test_names_and_places(tmp_path):
    with pytest.raises(FileError, match=r"has to end in \.json; received .*model\.keras"):
        outputs.check(tmp_path / "model.keras", BENCHMARK)
    with pytest.raises(MissingFileError, match=r"there is no folder .*nowhere"):
        outputs.check(tmp_path / "nowhere" / "report.json", BENCHMARK)
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(FileError, match="it is a folder"):
        outputs.check(tmp_path / "folder.json", BENCHMARK)
    with pytest.raises(FileError, match=r"has to end in \.json; received /dev/null"):
        outputs.check("/dev/null", BENCHMARK)


def test_a_page_carries_its_mark(tmp_path):
    from export.page import report_page

    page = report_page.page("Title", "words", [])
    assert outputs.PAGE_MARK.decode() in page[:4096]
