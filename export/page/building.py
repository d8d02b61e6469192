"""The page of a run and its figures, as text and as files."""

import contextlib
import pathlib

from command_line import plots as style
from export.page import (
    artifacts_section,
    cost_section,
    latency_section,
    plots,
    report_page,
    summary_section,
    training_section,
)
from hsvit_runtime import files


def write(run, output):
    """Writes the page of a run and its figures beside it, and prints where.

    Args:
        run: `run_folder.Run`.
        output: path of the HTML file.
    """
    for note in run.skipped:
        print(f"left out: {note}")
    save(output, *build(run))


def save(output, html, images):
    """Writes a page and its figures beside it, and prints where.

    Args:
        output: path of the HTML file.
        html, images: what `build` gives.
    """
    output = pathlib.Path(output)
    with files.replacing(output) as temporary:
        temporary.write_text(html, encoding="utf-8")
        for name, png in images.items():
            with files.replacing(output.with_name(f"{output.stem}_{name}.png")) as image:
                image.write_bytes(png)
    print(f"wrote {output}, and its {len(images)} figures as {output.stem}_*.png")


@contextlib.contextmanager
def figures():
    """The style that figures of a page are drawn in.

    Yields:
        (figure, images): a function (name, drawn figure, caption, description) that gives the figure as HTML,
        and the dict from names to the bytes of PNGs that it fills.
    """
    images = {}

    def figure(name, drawn, caption, description):
        images[name] = style.as_png(drawn)
        return report_page.figure(plots.as_svg(drawn, name), caption, description)

    with style.style():
        yield figure, images


def build(run):
    """Makes the page of a run.

    Args:
        run: `run_folder.Run`.

    Returns:
        (html, images): str, and a dict from a figure's name to the bytes of its PNG.
    """
    with figures() as (figure, images):
        sections = [
            summary_section.section(run),
            *_skipped(run),
            training_section.section(run, figure),
            artifacts_section.section(run.artifacts),
            *latency_section.sections(run, figure),
            *map(cost_section.section, run.costs),
        ]
    return report_page.page(
        f"{_title(run)}: training, export, speed", f"From the folder {run.name}", sections
    ), images


def _title(run):
    model = (run.config or {}).get("model")
    return model if isinstance(model, str) else run.name


def _skipped(run):
    if run.skipped:
        notes = (report_page.paragraph(note, "warning") for note in run.skipped)
        yield report_page.section("Files left out", *notes)
