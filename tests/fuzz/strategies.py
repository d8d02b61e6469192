"""What Hypothesis draws: damaged bytes, JSON that is wrong somewhere, values that nobody expects."""

import copy
import json

from hypothesis import strategies as st

BYTES = (
    *(b"", b"\0", b"{", b"null", b"[]", b'"x"', b"\xff\xfe{\0}\0", b'{"a": NaN}', b'{"a": 1e999}'),
    *(b"[" * 100_000, b'{"a":' * 100_000, b'{"a": ' + b"9" * 5000 + b"}", b'{"a": "\\ud800"}'),
)
_NUMBERS = (0, -1, 1, 1.5, -0.0, 2**31, 10**9, 10**23, 1e30, -1e308)
_TEXTS = ("", "x", "../../../escaped", "/dev/zero", "a" * 200, "\0", "line\nline", "\ud800", "{}", "nan")
SCALARS = st.sampled_from((None, True, False, *_NUMBERS, *_TEXTS))
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.dictionaries(st.sampled_from(["x", "", "ms"]), SCALARS, max_size=2),
)
NOT_FINITE = st.sampled_from((float("nan"), float("inf"), -float("inf")))


@st.composite
def damaged(draw, content, most=3):
    """Bytes with one to `most` faults, or others altogether.

    Args:
        draw: of Hypothesis.
        content: bytes that are right.
        most: int, faults at most.
    """
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, most))):
        place = draw(st.integers(0, max(len(changed) - 1, 0)))
        kind = draw(st.sampled_from(["flip", "byte", "word", "cut", "zeros", "repeat", "insert"]))
        if kind == "flip" and changed:
            changed[place] ^= 1 << draw(st.integers(0, 7))
        elif kind == "byte" and changed:
            changed[place] = draw(st.integers(0, 255))
        elif kind == "word":  # sizes, offsets and counts are words
            changed[place : place + 4] = draw(
                st.sampled_from([b"\xff" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\x80"])
            )
        elif kind == "cut":
            del changed[place:]
        elif kind == "zeros":
            changed[place : place + 16] = bytes(16)
        elif kind == "repeat":
            changed[place:place] = changed[place : place + 64]
        else:
            changed[place:place] = draw(st.binary(max_size=16))
    return bytes(changed)


@st.composite
def wrong_json(draw, content, most=2):
    """The bytes of JSON in which one to `most` entries are of another kind, missing or too many.

    Args:
        draw: of Hypothesis.
        content: what is right: dicts, lists, numbers and strings.
        most: int, changes at most.
    """
    content = {"": copy.deepcopy(content)}
    for _ in range(draw(st.integers(1, most))):
        holder, key = draw(st.sampled_from(list(_places(content))))
        kind = draw(st.sampled_from(["value", "value", "remove", "wrap", "number"]))
        if kind == "value":
            holder[key] = draw(VALUES)
        elif kind == "number":
            holder[key] = draw(NOT_FINITE)
        elif kind == "wrap":
            holder[key] = [holder[key]]
        elif key != "":
            del holder[key]
    return json.dumps(content[""]).encode()


def _places(content):
    """Every (dict or list, key) that there is."""
    entries = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in list(entries):
        yield content, key
        if isinstance(value, dict | list):
            yield from _places(value)
