import pytest
from PIL import Image

from command_line import plots


def test_a_name_looks_the_same_wherever_it_comes_and_names_differ():
    names = [f"model{index}" for index in range(12)]
    looks = plots.looks([*names, *names])
    assert list(looks) == names
    assert len(set(looks.values())) == 12
    assert plots.looks(names[:3]) == {name: looks[name] for name in names[:3]}


def test_saved_figures_are_on_white(tmp_path):
    with plots.style():
        figure = plots.new_figure((2, 1))
        figure.subplots().plot([1, 2], color=plots.SERIES[0])
        plots.save(figure, tmp_path / "figure.png", dpi=50)
    image = Image.open(tmp_path / "figure.png")
    assert image.size == (100, 50)
    assert image.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


def test_the_style_ends_with_its_context():
    import matplotlib

    before = matplotlib.rcParams["axes.grid"]
    with plots.style():
        assert matplotlib.rcParams["axes.grid"] is True
    assert matplotlib.rcParams["axes.grid"] == before


def test_a_figure_needs_a_folder(tmp_path):
    with plots.style(), pytest.raises(FileNotFoundError, match="no folder"):
        plots.save(plots.new_figure(), tmp_path / "none" / "figure.png")
