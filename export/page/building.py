"""The page of a run and its figures, as text and as files."""

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
    output = pathlib.Path(output)
    for note in run.skipped:
        print(f"left out: {note}")
    with files.replacing(output) as temporary:
        html, images = build(run)
        temporary.write_text(html, encoding="utf-8")
        for name, png in images.items():
            with files.replacing(output.with_name(f"{output.stem}_{name}.png")) as image:
                image.write_bytes(png)
    print(f"wrote {output}, and its {len(images)} figures as {output.stem}_*.png")


def build(run):
    """Makes the page of a run.

    Args:
        run: `run_folder.Run`.

    Returns:
        (html, images): str, and a dict from a figure's name to the bytes of its PNG.
    """
    images = {}

    def figure(name, drawn, caption, description):
        images[name] = style.as_png(drawn)
        return report_page.figure(plots.as_svg(drawn, name), caption, description)

    with style.style():
        sections = [
            summary_section.section(run),
            *_skipped(run),
            training_section.section(run, figure),
            artifacts_section.section(run),
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
