"""Kendall's coefficient of data whose pairs can be counted."""

import pytest

from training.scaling import rank

pytestmark = pytest.mark.once


def test_kendall_counts_pairs():
    """Of the 6 pairs of 1 2 3 4 against 1 3 2 4 one is the other way round: (5 - 1) / 6."""
    found = rank.kendall({"one": [1, 2, 3, 4], "other": [1, 3, 2, 4], "reversed": [9, 8, 7, 1]})
    assert found["one"]["other"] == pytest.approx(4 / 6)
    assert found["one"]["reversed"] == pytest.approx(-1)
    assert found["other"]["one"] == found["one"]["other"]
    assert all(found[name][name] == pytest.approx(1) for name in found)


def test_the_grid_is_the_papers():
    assert len(rank.draw(2_700)) == 2_700
    assert rank.draw(5, seed=1) == rank.draw(5, seed=1) != rank.draw(5, seed=2)
    assert {one["image_size"] for one in rank.draw(9, image_size=128)} == {128}


@pytest.mark.parametrize(
    "table, message",
    [
        ({"one": [1, 2], "other": [1]}, "every cost has to be known of every model; received one 2, other 1"),
        ({"one": [1, 2], "other": [3, 3]}, "other is the same for all models"),
    ],
)
def test_what_cannot_be_ranked_is_named(table, message):
    with pytest.raises(ValueError, match=message):
        rank.kendall(table)


def test_more_models_than_the_grid_has():
    with pytest.raises(ValueError, match="the grid has 675 models; received models=1000"):
        rank.draw(1000, image_size=128)


def test_the_table_is_a_matrix():
    lines = rank.as_text({"a": {"a": 1.0, "b": 0.5}, "b": {"a": 0.5, "b": 1.0}}).splitlines()
    assert [line.split() for line in lines] == [["a", "b"], ["a", "1.00", "0.50"], ["b", "0.50", "1.00"]]
