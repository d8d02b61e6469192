"""The files of tables: all load, every row can be planned, the papers' figures stand where they should."""

import pathlib
import re

import pytest

import hsvit_keras
from hsvit_keras.compression.counting import count_layers
from hsvit_runtime.errors import InputError
from tests.models.counting import count, outline
from tests.models.test_xformers import counts
from training.configs import digits
from training.scaling.costs import Cost
from training.tabulating.overview import overview
from training.tabulating.paper import Row, Table, list_tables, load_table
from training.tabulating.plan import choose_rows, config_of
from training.tabulating.results import in_the_form_of
from training.tabulating.sources import Source

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
TABLES = {name: load_table(name) for name in list_tables()}
CLASSES = {
    "cifar10": 10,
    "cifar100": 100,
    "fashion_mnist": 10,
    "tiny_imagenet": 200,
    "food101": 101,
    "digits": 10,
}
CLASSES |= {"coco": 80, "kinetics": 400}
CLASSES |= {"imagenet": 1000, "clipart": 345, "painting": 345, "sketch": 345}
# Parameters of the package where they do not round to what the paper prints.
OTHER_PARAMETERS = {
    ("dhvt_table9", "PiT-Ti"): "4.8 M",
    ("dhvt_table9", "DHVT-T"): "6.3 M",
    ("dhvt_table9", "DHVT-S"): "24.0 M",
    ("dhvt_table10", "DHVT-T"): "6.1 M",
    ("vix_table3", "LeViP"): "622,410",
}
# Layers where HSViT's Table 3 counts others than all convolutions of the graph.
OTHER_LAYERS = {
    "MobileNetV2-1.0": "52 + 0", "MobileNetV2-1.4": "52 + 0", "ViT-B": "1 + 12", "CvT-13": "42 + 13",
    "CvT-21": "66 + 21",
}  # fmt: skip


def source(label):
    folders = ("clipart", "painting", "sketch")
    return Source(label, "folder" if label in folders else label, None)


def counted_on(name):
    """The data set whose classes and images a table's counts belong to."""
    data = tuple(TABLES[name].recipes)
    if name == "hsvit_table3":
        return "tiny_imagenet"
    return "cifar100" if name == "hvt_table4" else data[0]


def arguments_of(name, row, data):
    """What `create_model` gets of a row on a data set."""
    values = config_of(TABLES[name], row, source(data), {})
    given = {key: tuple(x) if isinstance(x, list) else x for key, x in values["model_arguments"].items()}
    given.pop("resizing", None)  # how pictures are prepared, which no layer knows
    return {"input_shape": tuple(values["image_shape"]), "num_classes": CLASSES[data], **given}


TRAINED = [(name, row) for name, table in TABLES.items() for row in table.rows if row.model]
COUNTED = [(name, row) for name, row in TRAINED if row.parameters or row.layers]


def test_all_tables_are_there():
    numbers = {
        "dhvt": (2, 3, 4, 5, 9, 10),
        "hsvit": (3, 4),
        "hvt": range(1, 10),
        "scaling": (1, 2, 5, 6, 7, 8, 9, 12, 13),
        "vix": range(1, 7),
    }
    papers = [f"{paper}_table{number}" for paper, of in numbers.items() for number in of]
    assert sorted(list_tables()) == sorted([*papers, "dhvt_affine", "small_data"])
    assert list_tables()[-1] == "vix_table6" and list_tables()[5:7] == ["dhvt_table9", "dhvt_table10"]


@pytest.mark.parametrize("name", TABLES)
def test_every_row_has_a_config_on_every_data_set(name):
    models = hsvit_keras.list_models()
    for row in TABLES[name].rows:
        if row.model is None:
            continue
        assert row.model in models
        for data in TABLES[name].recipes:
            values = config_of(TABLES[name], row, source(data), {})
            assert (values["model"], values["data"]) == (row.model, source(data).data)
            assert len(values["mean"]) == values["image_shape"][-1]


def test_figures_of_the_papers():
    """Some of each paper, read from its tables once more."""
    printed = {
        ("hsvit_table3", "EfficientNet-B3", "fashion_mnist"): (87.17, None),
        ("hsvit_table3", "MobileViT-S", "food101"): (68.00, None),
        ("hsvit_table3", "HSViT-C4A8", "tiny_imagenet"): (59.25, None),
        ("hsvit_table4", "HSViT-C3A4: attention alone", "cifar100"): (35.17, None),
        ("hsvit_table4", "HSViT-C4A8: convolution alone", "cifar10"): (93.32, None),
        ("vix_table1", "Hybrid Vision Nyströmformer (ViN)", "cifar10"): (75.26, 98.39),
        ("vix_table2", "MLP Mixer", "tiny_imagenet"): (18.47, 42.16),
        ("vix_table3", "CCN", "cifar10"): (83.36, 99.07),
        ("vix_table4", "CvN", "tiny_imagenet"): (45.47, 71.35),
        ("vix_table5", "Hybrid PiN", "cifar10"): (74.00, 98.03),
        ("vix_table6", "ViL", "cifar10"): (55.88, 94.61),
        ("hvt_table1", "Scale HVT-Ti-4", "imagenet"): (75.23, 92.30),
        ("hvt_table2", "DeiT-Ti without CLS", "cifar100"): (65.93, 90.33),
        ("hvt_table3", "HVT-S (Conv)", "cifar100"): (69.75, 92.12),
        ("hvt_table4", "HVT-S-2", "cifar100"): (75.37, 93.69),
        ("hvt_table5", "24 blocks", "cifar100"): (75.04, 93.39),
        ("hvt_table6", "16 heads", "cifar100"): (76.30, 93.16),
        ("hvt_table7", "Resolution 384", "cifar100"): (76.31, 94.02),
        ("hvt_table8", "Patch 32", "cifar100"): (68.15, 90.19),
        ("hvt_table9", "HVT-S-2 (2D)", "cifar100"): (77.58, 94.40),
        ("dhvt_table2", "ViT + Split CLS + Agg on CLS", "cifar100"): (69.34, None),
        ("dhvt_table3", "DHVT (Agg on all token)", "cifar100"): (78.34, None),
        ("dhvt_table5", "LN-BN, batches of 256", "cifar100"): (80.02, None),
        ("dhvt_affine", "ViT + SOPE w/o affine", "cifar100"): (73.42, None),
        ("dhvt_table4", "DHVT-S with 8 heads", "cifar100"): (82.82, None),
        ("dhvt_table9", "DHVT-S", "imagenet"): (82.3, None),
        ("dhvt_table10", "DHVT-T", "sketch"): (56.66, None),
        ("scaling_table1", "Starting point", "imagenet"): (None, None),
        ("scaling_table2", "DeiT-Scaled-Base", "imagenet"): (83.8, None),
        ("scaling_table5", "TX2 Scaling, d 6", "imagenet"): (74.0, None),
        ("scaling_table12", "V100 Scaling", "imagenet"): (78.1, None),
        ("scaling_table6", "PiT-Scaled-XS", "imagenet"): (79.5, None),
        ("scaling_table7", "DeiT-Scaled-Tiny", "coco"): (None, None),
        ("scaling_table8", "PiT-Scaled-Small", "imagenet"): (81.8, None),
        ("scaling_table9", "Divided, DeiT-Scaled-Small", "kinetics"): (72.0, None),
        ("scaling_table13", "DeiT-Scaled-Small-RP", "imagenet"): (82.0, None),
    }  # fmt: skip
    for (name, title, data), accuracy in printed.items():
        (row,) = choose_rows(TABLES[name], [title])
        assert row.printed(data) == accuracy, (name, title)
    assert {name for name, _, _ in printed} == {*TABLES} - {"small_data"}
    (row,) = choose_rows(TABLES["scaling_table7"], ["DeiT-Scaled-Small"])
    assert row.average_precision == {"coco": 41.7} and row.others == {"images/s": 9.81}


def test_what_papers_print_twice_is_the_same():
    """A row of one table that another one repeats."""

    def row(name, title):
        return choose_rows(TABLES[name], [title])[0]

    for size in ("C2A2", "C3A4", "C4A8"):
        whole, ablated = row("hsvit_table3", f"HSViT-{size}"), row("hsvit_table4", f"HSViT-{size}: both")
        assert all(whole.accuracy[data] == ablated.accuracy[data] for data in ("cifar10", "cifar100"))
    repeated = [("hvt_table3", "HVT-S (Max)"), ("hvt_table4", "HVT-S-4"), ("hvt_table5", "12 blocks")]
    repeated += [("hvt_table6", "6 heads"), ("hvt_table7", "Resolution 224"), ("hvt_table8", "Patch 16")]
    assert {row(*place).printed("cifar100") for place in repeated} == {(75.43, 93.56)}
    assert {(row(*place).multiply_adds, row(*place).parameters) for place in repeated} == {
        ("1.39 G", "21.77 M")
    }
    for title in ("PiT-Scaled-Tiny", "PiT-XS", "PiT-Scaled-XS", "PiT-Scaled-Small"):
        assert row("scaling_table6", title).accuracy == row("scaling_table8", title).accuracy


def test_learning_rates_that_the_paper_lowers():
    """The third footnote of HSViT's Table 3."""
    slower = set()
    for row in TABLES["hsvit_table3"].rows:
        for data in TABLES["hsvit_table3"].recipes:
            rate = config_of(TABLES["hsvit_table3"], row, source(data), {})["learning_rate"]
            assert rate in (1e-3, 1e-4)
            if rate == 1e-4:
                slower.add((row.name, data))
    assert slower == {
        *(("ViT-B", data) for data in TABLES["hsvit_table3"].recipes),
        ("CvT-13", "food101"),
        ("CvT-21", "tiny_imagenet"),
    }


def test_a_foreign_data_set_brings_its_pixels_and_the_table_its_optimization():
    (row,) = choose_rows(TABLES["hsvit_table3"], ["hsvit_c2a2"])
    values = config_of(TABLES["hsvit_table3"], row, source("digits"), {"epochs": 7})
    own = digits.get_config()
    assert values["image_shape"] == list(own.image_shape) and values["mean"] == list(own.mean)
    assert [name for name, _ in values["augmentation"]] == [name for name, _ in own.augmentation]
    assert (values["batch_size"], values["learning_rate"], values["epochs"]) == (512, 1e-3, 7)


@pytest.mark.parametrize(
    ("name", "title", "data", "image_shape"),
    [
        ("hvt_table7", "Resolution 160", "cifar100", [160, 160, 3]),
        ("hvt_table1", "HVT-S-1", "digits", [224, 224, 1]),
        ("scaling_table2", "DeiT-Scaled-Base", "imagenet", [320, 320, 3]),
        ("dhvt_table10", "DHVT-T", "clipart", [224, 224, 3]),
        ("scaling_table9", "Joint, DeiT-Scaled-Tiny", "kinetics", [8, 160, 160, 3]),
        ("dhvt_table4", "DHVT-T with 3 heads", "digits", [32, 32, 1]),
        ("hsvit_table3", "EfficientNet-B0", "fashion_mnist", [64, 64, 1]),
        ("hsvit_table3", "EfficientNet-B0", "food101", [128, 128, 3]),
        ("hsvit_table3", "CvT-13", "cifar10", [32, 32, 3]),
        ("hsvit_table3", "HSViT-C2A2", "fashion_mnist", [28, 28, 1]),
    ],
)
def test_sizes_of_images(name, title, data, image_shape):
    (row,) = choose_rows(TABLES[name], [title])
    assert config_of(TABLES[name], row, source(data), {})["image_shape"] == image_shape


def test_counts_of_hsvit():
    """Of 64 x 64 pixels and 200 classes, as the table says."""
    for row in choose_rows(TABLES["hsvit_table3"], ["hsvit_c2a2", "hsvit_c3a4", "hsvit_c4a8"]):
        model = outline(row.model, **arguments_of("hsvit_table3", row, "tiny_imagenet"))
        assert in_the_form_of(row.parameters, count(model)) == row.parameters
        assert in_the_form_of(row.layers, count_layers(model)) == row.layers


@pytest.mark.slow
@pytest.mark.parametrize(("name", "row"), COUNTED, ids=[f"{name}-{row.key}" for name, row in COUNTED])
def test_counts(name, row):
    """Parameters round to the paper's, layers are the paper's, but for the differences listed above."""
    arguments = arguments_of(name, row, counted_on(name))
    found = counts(row.model, **arguments)[1] if name.startswith("vix") else None
    model = outline(row.model, **arguments)
    if row.parameters:
        shown = in_the_form_of(row.parameters, count(model) if found is None else found)
        assert shown == OTHER_PARAMETERS.get((name, row.name), row.parameters)
    if row.layers:
        shown = in_the_form_of(row.layers, count_layers(model))
        assert shown == OTHER_LAYERS.get(row.name, row.layers)


@pytest.mark.slow
@pytest.mark.parametrize("title", ["DeiT-Ti", "DeiT-Ti + PoWER", "DeiT-S + PoWER"])
def test_flops_of_power(title):
    """All tokens of all blocks count, as in the paper."""
    (row,) = choose_rows(TABLES["hvt_table1"], [title])
    model = {"name": row.model, **row.arguments}
    assert in_the_form_of(row.multiply_adds, Cost("full_multiply_adds")(model)) == row.multiply_adds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "row"),
    [
        pytest.param(name, row, marks=pytest.mark.exhaustive if TABLES[name].task == "detection" else ())
        for name, row in TRAINED
    ],
    ids=[f"{name}-{row.key}" for name, row in TRAINED],
)
def test_every_row_builds_on_every_data_set(name, row):
    for data in TABLES[name].recipes:
        model = outline(row.model, **arguments_of(name, row, data))
        assert (None, CLASSES[data]) in [(output.shape[0], output.shape[-1]) for output in model.outputs]


def test_the_overview_in_the_docs_is_complete():
    assert f"```\n{overview()}\n```" in (ROOT / "docs" / "tables.md").read_text()


def test_the_differences_in_the_docs_are_those_of_the_tests():
    text = (ROOT / "docs" / "tables.md").read_text()
    lines = re.findall(r"^\| (\w+_table\d+) \| (.*?) \| (.*?) \| (.*?) \|$", text, re.MULTILINE)
    assert {(name, row): ours for name, row, _, ours in lines} == OTHER_PARAMETERS


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((Row("One", "hsvit_tiny"), Row("ONE", "hsvit_tiny")), "two rows have one name among one, one"),
        ((Row("One"),), "row 'One' needs either a model or a reason"),
        ((Row("One", "hsvit_tiny", why_not="no"),), "row 'One' needs either a model or a reason"),
        ((Row("One", "hsvit_tiny", accuracy={"cifra10": 1.0}),), "row 'One' has no recipe for cifra10"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(rows, message):
    with pytest.raises(InputError, match=message):
        Table("A table", "a paper", {"digits": digits.get_config}, rows)


def test_a_table_that_is_not_there_is_named():
    with pytest.raises(InputError, match="there is no table 'hsvit_table33'; did you mean 'hsvit_table3'"):
        load_table("hsvit_table33")
