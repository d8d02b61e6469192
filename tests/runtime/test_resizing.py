"""`Resizing`: sizes by hand, and what is refused."""

import json

import pytest

from hsvit_runtime.errors import InputError
from hsvit_runtime.resizing import Resizing

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("size", "picture", "expected"),
    [
        (None, (5, 7), (5, 7)),
        ((3, 4), (5, 7), (3, 4)),
        (10, (20, 45), (10, 22)),  # 22.5
        (10, (45, 20), (22, 10)),
        (10, (8, 8), (10, 10)),
    ],
)
def test_sides(size, picture, expected):
    assert Resizing("bicubic", size).resized_sides(*picture) == expected


@pytest.mark.parametrize(
    ("size", "new", "expected"),
    [
        (None, (48, 48), None),
        (40, (64, 64), 80),
        (40, (16, 48), 60),  # as much is cut off from the side that is left longer
        ((40, 36), (64, 16), (80, 18)),
    ],
)
def test_other_inputs(size, new, expected):
    assert Resizing("box", size).to_input((32, 32), new) == Resizing("box", expected)


@pytest.mark.parametrize("size", [None, 7, (7, 8)])
def test_json(size):
    resizing = Resizing("nearest", size)
    assert Resizing.from_json(json.loads(json.dumps(resizing.to_json()))) == resizing


@pytest.mark.parametrize("size", [0, -3, 2.5, True, (3,), (3, 0), "7"])
def test_sizes_that_are_none(size):
    with pytest.raises(InputError, match="size has to be a side in pixels, "):
        Resizing("nearest", size)


def test_unknown_filter():
    with pytest.raises(InputError, match=r"filter has to be one of nearest, .*; received filter='cubic'"):
        Resizing("cubic", 8)
