"""Tables as text, for a terminal and for log files."""

import re

# What a column of numbers may hold: "1,234", "+0.5", "~3.2 ms", "98.1 %", "nan", "-" where nothing is known.
_NUMBER = re.compile(r"([-+~±<>=]*\d.*|[-–]|nan|-?inf|)")


def table(columns, rows):
    """Sets rows in columns: the first column and words to the left, numbers to the right.

    Args:
        columns: sequence of str, the headings; empty strings are allowed.
        rows: sequence of rows, each with one cell for each column: str, or anything with a `str` form; None
            is shown as a dash. Numbers are formatted by the caller.

    Returns:
        str of a heading and one line a row, without a newline at the end.
    """
    cells = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    aligned = [
        _aligned(heading, [row[place] for row in cells], is_first=place == 0)
        for place, heading in enumerate(columns)
    ]
    return "\n".join("  ".join(line).rstrip() for line in zip(*aligned, strict=True))


def _aligned(heading, cells, is_first):
    """The lines of one column, all of one width."""
    to_the_right = not is_first and all(map(_NUMBER.fullmatch, cells))
    lines = [heading, *cells]
    width = max(map(len, lines))
    return [line.rjust(width) if to_the_right else line.ljust(width) for line in lines]
