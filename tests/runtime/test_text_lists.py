"""Lists that other people wrote, on other systems."""

import codecs
import os

import pytest

from data_sets import domainnet
from hsvit_runtime import text_lists
from hsvit_runtime.errors import FileError, InputError

pytestmark = pytest.mark.once

TEXT = "Hühnerei\nbicycle\n\nfox\n"
LINES = ["Hühnerei", "bicycle", "", "fox"]


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        (TEXT + "\n \n").encode(),
        TEXT.rstrip().encode(),
    ],
)
def test_the_same_lines_however_they_are_written(content, tmp_path):
    (tmp_path / "labels.txt").write_bytes(content)
    assert text_lists.read(tmp_path / "labels.txt") == LINES
    assert text_lists.words_of(LINES) == ["Hühnerei", "bicycle", "fox"]


@pytest.mark.parametrize(
    "content, words",
    [
        (
            TEXT.encode("latin-1"),
            "labels.txt is written neither in UTF-8 nor in UTF-16, see line 1: convert it",
        ),
        (b"fox\n\xff", "see line 2"),
        (TEXT.encode("utf-16-le"), "neither in UTF-8 nor in UTF-16"),
        (codecs.BOM_UTF16_LE + b"a", "neither in UTF-8 nor in UTF-16"),
        ("fox".encode("utf-32"), "labels.txt is no text: it holds zero bytes"),
        (b"fox\0", "labels.txt is no text: it holds zero bytes"),
    ],
)
def test_what_cannot_be_read(content, words, tmp_path):
    (tmp_path / "labels.txt").write_bytes(content)
    with pytest.raises(InputError, match=words):
        text_lists.read(tmp_path / "labels.txt")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "labels.txt")
    with pytest.raises(FileError, match="it is no ordinary file"):
        text_lists.read(tmp_path / "labels.txt")


def test_a_data_set_whose_list_has_a_mark_and_blank_lines(tmp_path):
    (tmp_path / "sketch").mkdir()
    content = "sketch/fox/a.png 1\r\n\r\nsketch/ant/b.png 0\r\n\r\n"
    (tmp_path / "sketch_train.txt").write_bytes(codecs.BOM_UTF8 + content.encode())
    dataset = domainnet.load("sketch", "train", tmp_path)
    assert dataset.labels.tolist() == [1, 0] and dataset.class_names[:2] == ("ant", "fox")
    (tmp_path / "sketch_train.txt").write_text(content.replace("\r", "") + "fox\n")
    with pytest.raises(InputError, match=r"sketch_train.txt, line 5: expected a path, a blank and a label"):
        domainnet.load("sketch", "train", tmp_path)
