import io
import itertools
import re
import xml.etree.ElementTree

import numpy as np
import pytest
from PIL import Image

from command_line import plots as figures
from export.page import plots
from hsvit_keras.tasks import Classification
from tests.export import reports

ACCURACY = Classification.metric
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def style():
    with figures.style():
        yield


def points():
    return plots.scatter(
        "Accuracy against size",
        [("first & best", 100.0, 0.5), ("<second>", 200.0, 0.75)],
        figures.looks(["first & best", "<second>"]),
        x_label="size, kB",
        measure=ACCURACY,
    )


def texts(svg):
    return ["".join(node.itertext()) for node in xml.etree.ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_svg_is_one_element_that_the_page_sizes():
    root = xml.etree.ElementTree.fromstring(plots.as_svg(points(), "size"))
    assert root.tag == f"{SVG}svg"
    assert "width" not in root.attrib
    assert "height" not in root.attrib
    assert root.attrib["viewBox"].startswith("0 0 ")


def test_svg_takes_its_colours_from_the_page():
    svg = plots.as_svg(points(), "size")
    assert not re.findall(r"#[0-9a-f]{6}\b(?![0-9a-f])", svg)
    assert {"ink", "rule", "series0", "series1"} <= set(re.findall(r"var\(--(\w+)\)", svg))


def test_svg_keeps_text_as_text_and_escapes_it():
    told = texts(plots.as_svg(points(), "size"))
    assert {"Accuracy against size", "size, kB", "first & best", "<second>"} <= set(told)


def test_svg_needs_nothing_from_elsewhere():
    svg = plots.as_svg(points(), "size")
    targets = re.findall(r'(?:href="|url\()([^")]+)', svg)
    assert targets
    assert all(target.startswith("#size-") for target in targets)
    assert "<script" not in svg
    assert "<metadata" not in svg


def test_ids_of_two_figures_differ_and_are_all_there():
    first, second = (plots.as_svg(points(), name) for name in ("one", "two"))
    ids = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', first)) <= ids[0]


def test_svg_is_the_same_each_time():
    assert plots.as_svg(points(), "size") == plots.as_svg(points(), "size")


def test_png_has_an_opaque_white_ground():
    image = Image.open(io.BytesIO(figures.as_png(points()))).convert("RGBA")
    assert image.getpixel((0, 0)) == (255, 255, 255, 255)
    assert image.getextrema()[3] == (255, 255)
    assert image.width >= 800


def test_looks_are_kept_and_differ():
    names = [f"model {index}" for index in range(20)]
    looks = figures.looks(["model 0", *names])
    assert list(looks) == names
    assert len(set(looks.values())) == 20
    assert len({colour for colour, _ in list(looks.values())[:6]}) == 6
    assert len({marker for _, marker in list(looks.values())[:6]}) == 6


def test_contrast_of_colours():
    """WCAG asks for 4.5 of text on its ground and for 3 of lines; all but the rules between are above."""

    def luminance(colour):
        channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    def contrast(one, other):
        light, dark = sorted((luminance(one), luminance(other)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    page = plots.__file__.replace("plots.py", "report.html")
    with open(page) as file:
        themes = re.findall(r":root \{(.*?)\}", file.read(), re.DOTALL)
    light, dark = (dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", theme)) for theme in themes)
    for name, colour in figures.COLOURS.items():
        assert light[name] == colour  # the PNG looks like the page in the light
    for theme in (light, dark):
        for name, colour in theme.items():
            if name not in ("paper", "rule"):
                assert contrast(colour, theme["paper"]) >= 4.5, (name, colour)


def test_latencies_show_every_run_and_the_summary():
    model = reports.phone_report()["models"][0]
    figure = plots.latencies("Latency", [model], figures.looks([model["name"]]))
    dots, bar, mark = figure.axes[0].lines
    assert sorted(dots.get_xdata()) == sorted(itertools.chain(*model["blocks_ms"]))
    assert list(bar.get_xdata()) == [model["latency_ms"]["p5"], model["latency_ms"]["p95"]]
    assert mark.get_xdata() == [model["latency_ms"]["p50"]]


def test_latencies_without_single_runs():
    known = {"mean": 5.0, "min": 4.0, "max": 9.0}
    model = reports.model("m", [[1.0]]) | {"blocks_ms": None}
    model["latency_ms"] = dict.fromkeys(model["latency_ms"]) | known
    figure = plots.latencies("Latency", [model], figures.looks("m"))
    dots, bar, mark = figure.axes[0].lines
    assert len(dots.get_xdata()) == 0
    assert list(bar.get_xdata()) == [4.0, 9.0]
    assert mark.get_xdata() == [5.0]


@pytest.mark.parametrize(("largest", "scale"), [(300.0, "linear"), (900.0, "log"), (90000.0, "log")])
def test_scale_follows_the_spread(largest, scale):
    looks = figures.looks("ab")
    figure = plots.scatter(
        "t", [("a", 100.0, 0.9), ("b", largest, 0.9)], looks, x_label="x", measure=ACCURACY
    )
    assert figure.axes[0].get_xscale() == scale
    assert figure.axes[0].get_ylim() == pytest.approx((0.89, 0.91))


def test_a_front_is_joined_by_stairs_and_alone_named():
    points = [("slow", 4.0, 0.9), ("behind", 3.0, 0.6), ("fast", 1.0, 0.5), ("middle", 2.0, 0.8)]
    front = ["fast", "middle", "slow"]
    figure = plots.scatter("t", points, figures.looks(front), x_label="x", measure=ACCURACY, front=front)
    *marks, stairs, dots = figure.axes[0].lines
    assert [mark.get_label() for mark in marks] == ["slow", "fast", "middle"]
    assert stairs.get_drawstyle() == "steps-post"
    assert [tuple(point) for point in stairs.get_xydata()] == [(1.0, 0.5), (2.0, 0.8), (4.0, 0.9)]
    assert [tuple(point) for point in dots.get_xydata()] == [(3.0, 0.6)]
    assert [text.get_text() for text in figure.legends[0].texts] == [
        "slow",
        "fast",
        "middle",
        "behind the front",
    ]


def test_long_names_are_cut_in_the_middle():
    name = "a_model_with_a_name_that_would_not_fit_into_a_figure.tflite"
    figure = plots.scatter("t", [(name, 1.0, 0.5)], figures.looks([name]), x_label="x", measure=ACCURACY)
    (label,) = (text for text in texts(plots.as_svg(figure, "s")) if "…" in text)
    assert label.startswith("a_model_with_a_na")
    assert label.endswith("into_a_figure.tflite"[-18:])
    assert len(label) == 36


def test_curves():
    lines = {"training": ((1, 2, 3), (0.5, 0.7, 0.9)), "validation": ((1, 3), (0.4, 0.8))}
    figure = plots.curves("Accuracy", lines, percent=True)
    drawn = figure.axes[0].lines
    assert [line.get_label() for line in drawn] == ["training", "validation"]
    assert list(drawn[1].get_xdata()) == [1, 3]
    assert drawn[0].get_linestyle() != drawn[1].get_linestyle()  # not told by colour alone
    assert any(text.endswith("%") for text in texts(plots.as_svg(figure, "a")))


def test_curve_of_one_epoch_is_seen():
    figure = plots.curves("Loss", {"training": ((1,), (0.5,))})
    assert figure.axes[0].lines[0].get_marker() == "."


def test_latencies_are_lines_over_threads_or_minutes():
    lines = {"one": ([1, 2, 4], [8.0, 4.0, 3.0]), "two": ([1, 2, 4], [1.0, 0.5, 0.25])}
    figure = plots.latency_lines("Threads", lines, figures.looks(lines), x_label="threads")
    (axes,) = figure.axes
    drawn = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}
    assert drawn == lines
    assert axes.get_yscale() == "log"
    assert axes.get_xscale() == "linear"
    assert all(tick == int(tick) for tick in axes.get_xticks())
    assert {"one", "two", "threads", "median latency, ms"} <= set(texts(plots.as_svg(figure, "threads")))


def test_latencies_that_are_alike_begin_at_zero():
    lines = {"one": ([0.5, 1.0], [2.0, 3.0])}
    figure = plots.latency_lines("Minutes", lines, figures.looks(lines), x_label="minutes")
    assert figure.axes[0].get_yscale() == "linear"
    assert figure.axes[0].get_ylim()[0] == 0
