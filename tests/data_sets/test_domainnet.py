"""DomainNet from its official lists and folders, tiny ones."""

import numpy as np
import pytest

from data_sets import load_dataset
from tests.data_sets.making import write_image


@pytest.fixture
def domainnet(tmp_path):
    """Two domains; the training part of paintings lacks t-shirt, as the official one does."""
    lists = {
        "clipart_train": ["aircraft_carrier/clipart_001_1.jpg 0", "t-shirt/clipart_327_1.jpg 327"],
        "clipart_test": ["zigzag/clipart_345_1.jpg 344", "aircraft_carrier/clipart_001_2.jpg 0"],
        "painting_train": ["alarm_clock/painting_003_1.jpg 2"],
        "painting_test": ["alarm_clock/painting_003_2.jpg 2"],
    }
    for name, lines in lists.items():
        domain = name.partition("_")[0]
        (tmp_path / f"{name}.txt").write_text("".join(f"{domain}/{line}\n" for line in lines))
        for line in lines:
            path, _, label = line.partition(" ")
            write_image(tmp_path / domain / path, (int(label) // 2, 0, 0), quality=100)
    return tmp_path


def test_a_domain(domainnet):
    train, test = (load_dataset("domainnet_clipart", split, domainnet) for split in ("train", "test"))
    assert train.labels.tolist() == [0, 327]
    assert test.labels.tolist() == [344, 0]
    assert train.image_shape == (224, 224, 3)
    for dataset in (train, test):
        for element in dataset:
            assert abs(int(element["image"][4, 4, 0]) - element["label"] // 2) < 4


def test_classes_are_those_of_all_domains(domainnet):
    names = load_dataset("domainnet_painting", "train", domainnet).class_names
    assert names == load_dataset("domainnet_clipart", "test", domainnet).class_names
    assert len(names) == 345
    assert [names[label] for label in (0, 2, 327, 344)] == [
        "aircraft_carrier", "alarm_clock", "t-shirt", "zigzag",
    ]  # fmt: skip
    assert names[1] == "class 1"  # no list has an image of it


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("clipart/zoo/1.jpg", "line 1: expected a path, a blank and a label below 345; received 'clipart/"),
        ("clipart/zoo/1.jpg 345", "line 1: expected a path"),
        ("clipart/zoo/1.jpg -1", "line 1: expected a path"),
        ("clipart/zoo/1.jpg 2", "the class 'alarm_clock' of .* has the label of 'zoo'"),
    ],
)
def test_wrong_list(domainnet, line, message):
    (domainnet / "clipart_train.txt").write_text(f"{line}\n")
    with pytest.raises(ValueError, match=message):
        load_dataset("domainnet_clipart", "train", domainnet)


def test_images_that_are_not_there(domainnet):
    (domainnet / "sketch_train.txt").write_text("sketch/zebra/1.jpg 343\n")
    with pytest.raises(FileNotFoundError, match=r"the folder sketch, extracted from sketch\.zip"):
        load_dataset("domainnet_sketch", "train", domainnet)


def test_labels_are_those_of_the_list_whatever_the_order(domainnet):
    lines = (domainnet / "clipart_train.txt").read_text().splitlines()
    (domainnet / "clipart_train.txt").write_text("\n".join(reversed(lines)))
    np.testing.assert_array_equal(load_dataset("domainnet_clipart", "train", domainnet).labels, [327, 0])
