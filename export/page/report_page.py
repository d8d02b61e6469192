"""The report's page: sections made of what was found, each of which says so when its part is missing.

Every text from a file is escaped where it enters the page: in `_text`, which all others go through.
"""

import base64
import html
import pathlib
import string

_TEMPLATE = pathlib.Path(__file__).with_name("report.html")


def page(title, lead, sections):
    """The whole page.

    Args:
        title: str.
        lead: str, a sentence under the title.
        sections: list of str, HTML.

    Returns:
        str of HTML that needs no other file.
    """
    template = string.Template(_TEMPLATE.read_text(encoding="utf-8"))
    return template.substitute(title=_text(title), lead=_text(lead), body="\n".join(sections))


def section(heading, *parts, level=2):
    """A heading and HTML below it."""
    return "\n".join([f"<section><h{level}>{_text(heading)}</h{level}>", *parts, "</section>"])


def paragraph(text, kind=""):
    return f'<p class="{kind}">{_text(text)}</p>' if kind else f"<p>{_text(text)}</p>"


def missing(text):
    """Says that something is not there."""
    return paragraph(text, "missing")


def warnings(entries):
    """The warnings of a benchmark report as a list."""
    if not entries:
        return paragraph("No warnings.", "quiet")
    items = (
        f"{entry['model']}: {entry['message']}" if entry["model"] else entry["message"] for entry in entries
    )
    return '<ul class="warning">' + "".join(f"<li>{_text(item)}</li>" for item in items) + "</ul>"


def figure(svg, caption, description):
    """A figure with a caption, and a description for those who do not see it."""
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{_text(description)}"', 1)
    return f"<figure>{svg}<figcaption>{_text(caption)}</figcaption></figure>"


def picture(png, caption):
    """A PNG, as its bytes, with a caption."""
    source = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    image = f'<img src="{source}" alt="{_text(caption)}">'
    return f"<figure>{image}<figcaption>{_text(caption)}</figcaption></figure>"


def figures(parts):
    return f'<div class="figures">{"".join(parts)}</div>'


def facts(pairs):
    """Names and values, side by side; values of None are left out."""
    rows = (f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in pairs if value is not None)
    return f"<dl>{''.join(rows)}</dl>"


def table(caption, columns, rows):
    """A table that scrolls sideways within itself where the screen is narrow.

    Args:
        caption: str, its name for screen readers.
        columns: list of str; one that starts with `<` holds text and is set to the left.
        rows: list of lists of values, the first of each being its header; None is shown as a dash.
    """
    left = [column.startswith("<") for column in columns]

    def cell(tag, value, is_left, scope=""):
        kind = ' class="text"' if is_left else ""
        return f"<{tag}{scope}{kind}>{_text(value)}</{tag}>"

    head = "".join(
        cell("th", column.lstrip("<"), is_left, ' scope="col"')
        for column, is_left in zip(columns, left, strict=True)
    )
    body = "".join(
        "<tr>"
        + cell("th", row[0], left[0], ' scope="row"')
        + "".join(cell("td", value, is_left) for value, is_left in zip(row[1:], left[1:], strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" role="region" aria-label="{_text(caption)}" tabindex="0"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _text(value):
    """A value as text of the page: escaped, None as a dash."""
    return "–" if value is None else html.escape(str(value))
