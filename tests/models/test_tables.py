"""The tables in the docstrings of the model classes tell what the models really have.

Rows of a model as it is registered are held against docs/models.json, which test_catalog.py holds against
the models themselves; rows with other images or classes are counted here.
"""

import json
import pathlib

import pytest

import hsvit_keras
from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_keras.models import registry
from tests.models.counting import count

CATALOG = json.loads((pathlib.Path(hsvit_keras.__file__).parents[1] / "docs" / "models.json").read_text())
CLASSES = sorted({variant.model_class for variant in registry._VARIANTS.values()}, key=lambda c: c.__name__)


def rows_of(model_class):
    """Rows of a docstring's table: (name, input, classes, parameters, multiply-adds), all as written.

    What is no column is the variant's own. A distilled form has columns in the row of the plain one.
    """
    lines = [line.strip() for line in model_class.__doc__.splitlines()]
    cells = [[cell.strip(" `") for cell in line[1:-1].split("|")] for line in lines if line.startswith("|")]
    for line in cells[2:]:
        row = dict(zip(cells[0], line, strict=True))
        variant = registry._VARIANTS[row["model"]]
        image = row.get("input", " x ".join(map(str, variant.input_shape)))
        start = (image, row.get("classes", str(variant.num_classes)))
        yield row["model"], *start, row["parameters"], row["MACs"]
        if row.get("distilled"):
            yield f"{row['model']}_distilled", *start, row["distilled"], row["distilled MACs"]


ROWS = [row for model_class in CLASSES for row in rows_of(model_class)]


def test_there_are_tables():
    """So that another form of the tables does not leave the tests without work."""
    names = {registry._VARIANTS[name].model_class.__name__ for name, *_ in ROWS}
    assert names >= {"HSViT", "HVT", "DHVT", "VisionTransformer", "PoolingTransformer"}


@pytest.mark.parametrize("model_class", CLASSES, ids=lambda model_class: model_class.__name__)
def test_every_variant_stands_in_the_table_of_its_class(model_class):
    listed = {name for name, *_ in rows_of(model_class)}
    variants = {name for name, variant in registry._VARIANTS.items() if variant.model_class is model_class}
    assert listed in (variants, set())


@pytest.mark.once
@pytest.mark.parametrize(
    "row",
    [row if row[0] in CATALOG else pytest.param(row, marks=pytest.mark.exhaustive) for row in ROWS],
    ids=lambda row: f"{row[0]}-{row[1].split()[0]}",
)
def test_row(row):
    name, image, classes, parameters, macs = row
    found = CATALOG.get(name, {})
    input_shape = tuple(map(int, image.split(" x ")))
    if (list(input_shape), int(classes)) != (found.get("input"), found.get("classes")):
        model = hsvit_keras.create_model(name, input_shape=input_shape, num_classes=int(classes))
        found = {"parameters": count(model), "macs": count_multiply_adds(model)}
    assert parameters == f"{found['parameters']:,}"
    assert macs == f"{found['macs'] / 1e6:,.1f} M"
