"""Which tables there are, and their rows, as text."""

import textwrap

from training.tabulating import paper

_WIDTH = 108


def overview():
    """One paragraph a table: its name, title and data sets, its rows, and those that only show a figure."""
    return "\n".join(_paragraph(name) for name in paper.list_tables())


def _paragraph(name):
    table = paper.load_table(name)
    trained = "; ".join(row.name for row in table.rows if row.model)
    shown = "; ".join(row.name for row in table.rows if not row.model)
    lines = [f"{name}: {table.title}, on {', '.join(table.recipes)}", *_wrapped(trained)]
    return "\n".join(lines + _wrapped(f"only the paper's figures: {shown}" if shown else ""))


def _wrapped(text):
    indents = {"initial_indent": "    ", "subsequent_indent": "    "}
    return textwrap.wrap(text, _WIDTH, break_on_hyphens=False, **indents)
