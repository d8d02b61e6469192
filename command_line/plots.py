"""The one style of all figures: colours, markers, fonts; how a figure is begun and saved."""

import io
import itertools

from hsvit_runtime.files import replacing

# Each is readable on white, and they differ in lightness too.
COLOURS = {
    "ink": "#1f2328",
    "rule": "#d1d9e0",
    "series0": "#0b5fb0",
    "series1": "#b35900",
    "series2": "#1a7f4b",
    "series3": "#8250df",
    "series4": "#a40e26",
    "series5": "#00707a",
}
SERIES = tuple(value for name, value in COLOURS.items() if name.startswith("series"))
MARKERS = "osD^vP"
SIZE = (4.2, 2.8)  # inches: readable at the width of a phone
_STYLE = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "figure.facecolor": "none",
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "report",
    "grid.color": COLOURS["rule"],
    **dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), COLOURS["ink"]
    ),
}


def style():
    """The context that figures are drawn and saved in."""
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def looks(names):
    """A colour and a marker for each name, the same wherever the name is drawn.

    Args:
        names: iterable of str, possibly repeated.

    Returns:
        dict from name to (colour, marker).
    """
    # From the seventh name on, colours come again with other markers.
    count = len(SERIES)
    given = ((index % count, (index + index // count) % count) for index in itertools.count())
    return {
        name: (SERIES[colour], MARKERS[marker])
        for name, (colour, marker) in zip(dict.fromkeys(names), given, strict=False)
    }


def new_figure(size=SIZE):
    """An empty figure whose parts keep clear of each other.

    Args:
        size: (width, height) in inches.

    Returns:
        matplotlib Figure.
    """
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def legend_below(figure):
    """Adds one legend below all panels, each label once."""
    handles = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4, fontsize=8)


def as_png(figure, dpi=200):
    """The figure on white, as bytes of a PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, facecolor="white")
    return buffer.getvalue()


def save(figure, path, dpi=120):
    """Writes the figure on white as a PNG to `path`, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    with replacing(path) as temporary:
        temporary.write_bytes(as_png(figure, dpi))
