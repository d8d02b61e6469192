"""Sets that are folders of image files: class folders, Tiny ImageNet, Food-101 and ImageNet."""

import hashlib
import shutil

import numpy as np
import pytest
from scipy.io import savemat

from data_sets import load_dataset
from tests.data_sets.making import write_class_folder, write_image


def file_names(dataset):
    return ["/".join(path.split("/")[-2:]) for path in dataset.images.paths]


# Class folders with a folder for each part.


@pytest.fixture
def pets(tmp_path):
    """train/{cat, dog} with 3 and 2 images, test/{cat, dog} with 1 each."""
    for part, counts in (("train", (3, 2)), ("test", (1, 1))):
        write_class_folder(tmp_path / part / "cat", counts[0], value=10)
        write_class_folder(tmp_path / part / "dog", counts[1], value=200)
    return tmp_path


def test_parts_as_folders(pets):
    train, test = (load_dataset("folder", split, pets) for split in ("train", "test"))
    assert train.class_names == test.class_names == ("cat", "dog")
    assert file_names(train) == ["cat/0.png", "cat/1.png", "cat/2.png", "dog/0.png", "dog/1.png"]
    np.testing.assert_array_equal(train.labels, [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(test.labels, [0, 1])
    assert train.labels.dtype == np.int32
    assert train.image_shape == (8, 8, 1)
    for dataset in (train, test):
        for element in dataset:
            assert element["image"].shape == (8, 8, 1)
            assert element["image"].dtype == np.uint8
            assert (element["image"] == (200 if element["label"] else 10)).all()


def test_validation_folder_serves_as_test_part(pets):
    (pets / "test").rename(pets / "val")
    assert len(load_dataset("folder", "test", pets)) == 2


def test_test_folder_without_classes_leaves_the_validation_folder(pets):
    (pets / "test").rename(pets / "val")
    write_image(pets / "test" / "unlabelled.png", (0, 0, 0))
    assert len(load_dataset("folder", "test", pets)) == 2


def test_only_a_train_folder(pets):
    shutil.rmtree(pets / "test")
    assert len(load_dataset("folder", "train", pets)) == 5
    with pytest.raises(FileNotFoundError, match=r"expected train/CLASS/\*.jpg and test/CLASS/\*.jpg"):
        load_dataset("folder", "test", pets)


@pytest.mark.parametrize("split", ["train", "test"])
def test_class_missing_in_test(pets, split):
    shutil.rmtree(pets / "test" / "dog")
    with pytest.raises(
        ValueError, match=r"test has no folder for 1 of the classes in .*train, such as 'dog'"
    ):
        load_dataset("folder", split, pets)


def test_class_missing_in_train(pets):
    write_class_folder(pets / "test" / "bird", 1)
    with pytest.raises(
        ValueError, match=r"train has no folder for 1 of the classes in .*test, such as 'bird'"
    ):
        load_dataset("folder", "train", pets)


@pytest.mark.parametrize("content", [None, "Thumbs.db", "notes.txt", ".hidden.png"])
def test_class_folder_without_images(pets, content):
    shutil.rmtree(pets / "train" / "dog")
    (pets / "train" / "dog").mkdir()
    if content:
        (pets / "train" / "dog" / content).touch()
    with pytest.raises(ValueError, match=r"train/dog holds no images: expected files ending in .*\.jpg"):
        load_dataset("folder", "train", pets)


def test_other_files_and_hidden_folders_are_left_out(pets):
    (pets / "train" / "cat" / "notes.txt").touch()
    (pets / "train" / ".cache").mkdir()
    (pets / "train" / "README.md").touch()
    assert len(load_dataset("folder", "train", pets)) == 5


def test_images_in_folders_inside_of_class_folders_are_refused(pets):
    nested = write_image(pets / "train" / "cat" / "indoors" / "old" / "7.png", (0, 0, 0))
    with pytest.raises(ValueError, match=f"{nested} is in a folder inside of {pets}/train/cat: its images"):
        load_dataset("folder", "train", pets)


def test_systems_folders_are_no_classes(pets):
    for name in ("@eaDir", "__MACOSX", ".thumbnails", "cat/@eaDir"):
        write_image(pets / "train" / name / "0.png", (0, 0, 0))
    assert load_dataset("folder", "train", pets).class_names == ("cat", "dog")


def test_unicode_names(pets):
    for part in ("train", "test"):
        (pets / part / "dog").rename(pets / part / "собака 犬")
    (pets / "train" / "cat" / "0.png").rename(pets / "train" / "cat" / "été.png")
    dataset = load_dataset("folder", "train", pets)
    assert dataset.class_names == ("cat", "собака 犬")
    assert file_names(dataset)[2] == "cat/été.png"


def test_set_opens_though_its_first_image_is_damaged(pets):
    """So that the command which names all damaged images can do so."""
    broken = pets / "train" / "cat" / "0.png"
    broken.write_bytes(b"no image")
    assert load_dataset("folder", "train", pets).image_shape == (8, 8, 1)
    for path in (pets / "train").rglob("*.png"):
        path.write_bytes(b"no image")
    with pytest.raises(OSError, match=f"cannot read the image {broken}"):
        load_dataset("folder", "train", pets)


SUFFIXES = [
    ".JPG",
    ".jpeg",
    ".JPEG",
    ".jfif",
    ".bmp",
    ".gif",
    ".tif",
    ".webp",
    ".WebP",
    ".ppm",
    ".pgm",
    ".Png",
]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_suffixes(tmp_path, suffix):
    for part in ("train", "test"):
        write_class_folder(tmp_path / part / "only", 2, suffix=suffix)
    assert load_dataset("folder", "train", tmp_path)[1]["image"].shape[:2] == (8, 8)


def test_broken_image_is_named_when_it_is_read(pets):
    broken = pets / "train" / "dog" / "0.png"
    broken.write_bytes(broken.read_bytes()[:40])
    dataset = load_dataset("folder", "train", pets)
    assert dataset[2]["label"] == 0
    with pytest.raises(OSError, match=f"cannot read the image {broken}: "):
        dataset[3]


def test_image_that_vanished_is_named(pets):
    dataset = load_dataset("folder", "train", pets)
    (pets / "train" / "dog" / "1.png").unlink()
    with pytest.raises(OSError, match=r"cannot read the image .*dog/1\.png: .*No such file"):
        dataset[4]


def test_images_are_decoded_lazily(pets):
    dataset = load_dataset("folder", "train", pets)
    write_image(pets / "train" / "dog" / "1.png", np.full((5, 6), 77, np.uint8))
    assert dataset[4]["image"].shape == (5, 6, 1)
    assert (dataset[4]["image"] == 77).all()


# Class folders alone.


@pytest.fixture
def shapes(tmp_path):
    for name in ("circle", "square", "train"):  # a class may well be called train
        write_class_folder(tmp_path / name, 50)
    return tmp_path


def test_hashed_split(shapes):
    train, test = (load_dataset("folder", split, shapes) for split in ("train", "test"))
    assert train.class_names == ("circle", "square", "train")
    assert not set(train.images.paths) & set(test.images.paths)
    assert len(train) + len(test) == 150
    # The first 64 bits of SHA-256 of the file's name, as a fraction, below one fifth.
    digests = {f"{number}.png": hashlib.sha256(f"{number}.png".encode()).hexdigest() for number in range(50)}
    expected = sorted(name for name, digest in digests.items() if int(digest[:16], 16) < 0.2 * 2**64)
    assert file_names(test) == [f"{name}/{file}" for name in test.class_names for file in expected]
    assert np.bincount(test.labels).tolist() == [12, 12, 12]


def test_hashed_split_keeps_images_where_they_are_when_others_come(shapes):
    before = {split: set(file_names(load_dataset("folder", split, shapes))) for split in ("train", "test")}
    for number in range(50, 80):
        write_image(shapes / "circle" / f"{number}.png", (1, 2, 3))
    shutil.move(shapes / "circle" / "10.png", shapes / "square" / "moved.png")
    for split, names in before.items():
        assert names - {"circle/10.png"} <= set(file_names(load_dataset("folder", split, shapes)))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_small_classes_are_in_both_parts(tmp_path, count):
    for number in range(20):
        folder = tmp_path / f"class{number:02}"
        for name in range(count):
            write_image(folder / f"{number}-{name}.png", (0, 0, 0))
    for split in ("train", "test"):
        assert np.bincount(load_dataset("folder", split, tmp_path).labels, minlength=20).min() >= 1


def test_class_with_one_image_cannot_be_split(tmp_path):
    write_class_folder(tmp_path / "many", 5)
    write_class_folder(tmp_path / "single", 1)
    with pytest.raises(ValueError, match=r"single/0\.png is the only image of its class"):
        load_dataset("folder", "train", tmp_path)


def test_folder_of_images_without_classes(tmp_path):
    write_image(tmp_path / "0.png", (0, 0, 0))
    with pytest.raises(FileNotFoundError, match="A set of class folders was not found"):
        load_dataset("folder", "train", tmp_path)


# Tiny ImageNet.


@pytest.fixture
def tiny_imagenet(tmp_path):
    root = tmp_path / "tiny-imagenet-200"
    for one, colour in (("n02", (200, 0, 0)), ("n01", (0, 200, 0))):
        for number in range(2):
            write_image(root / "train" / one / "images" / f"{one}_{number}.JPEG", colour)
        (root / "train" / one / f"{one}_boxes.txt").write_text(f"{one}_0.JPEG\t0\t0\t1\t1\n")
    for number in range(3):
        write_image(root / "val" / "images" / f"val_{number}.JPEG", (0, 0, 200))
    (root / "val" / "val_annotations.txt").write_text(
        "val_0.JPEG\tn02\t0\t32\t44\t62\nval_1.JPEG\tn01\t52\t55\t57\t59\nval_2.JPEG\tn02\t4\t0\t60\t55\n"
    )
    (root / "wnids.txt").write_text("n02\nn01\n")
    (root / "words.txt").write_text("n00\tentity\nn01\tgoldfish, Carassius auratus\nn02\tcrane\n")
    return root


@pytest.mark.parametrize("inside", [False, True])
def test_tiny_imagenet(tiny_imagenet, inside):
    data_dir = tiny_imagenet if inside else tiny_imagenet.parent
    train, test = (load_dataset("tiny_imagenet", split, data_dir) for split in ("train", "test"))
    assert train.class_names == test.class_names == ("goldfish", "crane")
    assert train.image_shape == (64, 64, 3)
    np.testing.assert_array_equal(train.labels, [0, 0, 1, 1])
    np.testing.assert_array_equal(test.labels, [1, 0, 1])
    assert train[0]["image"][0, 0].argmax() == 1  # n01 is green
    assert train[3]["image"][0, 0].argmax() == 0  # n02 is red
    assert test[0]["image"].shape == (8, 8, 3)
    assert file_names(test) == ["images/val_0.JPEG", "images/val_1.JPEG", "images/val_2.JPEG"]


def test_tiny_imagenet_unknown_label(tiny_imagenet):
    with (tiny_imagenet / "val" / "val_annotations.txt").open("a") as file:
        file.write("val_3.JPEG\tn77\t0\t0\t1\t1\n")
    with pytest.raises(ValueError, match=r"val_annotations.txt: the class n77 of val_3.JPEG is not in wnids"):
        load_dataset("tiny_imagenet", "test", tiny_imagenet)


def test_tiny_imagenet_empty_class(tiny_imagenet):
    shutil.rmtree(tiny_imagenet / "train" / "n01" / "images")
    (tiny_imagenet / "train" / "n01" / "images").mkdir()
    with pytest.raises(ValueError, match="train/n01/images holds no images"):
        load_dataset("tiny_imagenet", "train", tiny_imagenet)


def test_tiny_imagenet_missing_class(tiny_imagenet):
    shutil.rmtree(tiny_imagenet / "train" / "n01")
    with pytest.raises(FileNotFoundError, match="train/n01/images"):
        load_dataset("tiny_imagenet", "train", tiny_imagenet)


# Food-101.


@pytest.fixture
def food101(tmp_path):
    root = tmp_path / "food-101"
    for name, colour in (("apple_pie", (200, 0, 0)), ("waffles", (0, 200, 0))):
        for number in (11, 12, 13):
            write_image(root / "images" / name / f"{number}.jpg", colour)
    meta = root / "meta"
    meta.mkdir()
    (meta / "classes.txt").write_text("apple_pie\nwaffles\n")
    (meta / "train.txt").write_text("apple_pie/13\nwaffles/12\nwaffles/11\n")
    (meta / "test.txt").write_text("apple_pie/11\nwaffles/13")
    return root


@pytest.mark.parametrize("inside", [False, True])
def test_food101(food101, inside):
    data_dir = food101 if inside else food101.parent
    train, test = (load_dataset("food101", split, data_dir) for split in ("train", "test"))
    assert train.class_names == ("apple_pie", "waffles")
    assert train.image_shape == (224, 224, 3)
    assert file_names(train) == ["apple_pie/13.jpg", "waffles/12.jpg", "waffles/11.jpg"]
    np.testing.assert_array_equal(train.labels, [0, 1, 1])
    assert file_names(test) == ["apple_pie/11.jpg", "waffles/13.jpg"]
    assert test[1]["image"][0, 0].argmax() == 1  # waffles are green


def test_food101_unknown_class(food101):
    (food101 / "meta" / "test.txt").write_text("apple_pie/11\npizza/1\n")
    with pytest.raises(ValueError, match=r"test.txt: the class 'pizza' of pizza/1 is not in classes.txt"):
        load_dataset("food101", "test", food101)


# ImageNet.


@pytest.fixture
def imagenet(tmp_path):
    """train/{n01, n02, n03} and flat validation images of n03, n01 and n02, as in the official archives."""
    for one in ("n01", "n02", "n03"):
        for number in range(2):
            write_image(tmp_path / "train" / one / f"{one}_{number}.JPEG", (int(one[1:]) * 60, 0, 0))
    for number, value in enumerate((180, 60, 120), start=1):
        write_image(tmp_path / "val" / f"ILSVRC2012_val_{number:08}.JPEG", (value, 0, 0))
    return tmp_path


def add_kaggle_files(folder):
    (folder / "LOC_synset_mapping.txt").write_text("n01 tench, Tinca tinca\nn02 crane\nn03 crane\n")
    (folder / "LOC_val_solution.csv").write_text(
        "ImageId,PredictionString\n"
        "ILSVRC2012_val_00000002,n01 1 2 3 4 \n"
        "ILSVRC2012_val_00000001,n03 85 1 499 272 n03 1 1 2 2 \n"
        "ILSVRC2012_val_00000003,n02 5 6 7 8 \n"
    )


def add_development_kit(folder):
    kit = folder / "ILSVRC2012_devkit_t12" / "data"
    kit.mkdir(parents=True)
    dtype = [("ILSVRC2012_ID", "O"), ("WNID", "O"), ("words", "O"), ("num_children", "O")]
    # The kit's numbers are no order of the ids, and it has inner nodes beyond the classes.
    rows = [
        (1, "n02", "crane", 0),
        (2, "n03", "crane", 0),
        (3, "n01", "tench, Tinca tinca", 0),
        (4, "n99", "all", 3),
    ]
    savemat(kit / "meta.mat", {"synsets": np.array(rows, dtype)[:, np.newaxis]})
    (kit / "ILSVRC2012_validation_ground_truth.txt").write_text("2\n3\n1\n")
    return kit


@pytest.mark.parametrize("add_labels", [add_kaggle_files, add_development_kit])
def test_imagenet_flat_validation(imagenet, add_labels):
    add_labels(imagenet)
    train, test = (load_dataset("imagenet", split, imagenet) for split in ("train", "test"))
    assert train.class_names == test.class_names == ("tench", "crane (n02)", "crane (n03)")
    assert train.image_shape == (224, 224, 3)
    np.testing.assert_array_equal(train.labels, [0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(test.labels, [2, 0, 1])
    for dataset in (train, test):
        for element in dataset:
            assert abs(int(element["image"][4, 4, 0]) - (element["label"] + 1) * 60) < 5


@pytest.mark.parametrize("add_labels", [add_kaggle_files, add_development_kit])
def test_imagenet_validation_alone(imagenet, add_labels):
    """To evaluate needs no training images."""
    add_labels(imagenet)
    shutil.rmtree(imagenet / "train")
    test = load_dataset("imagenet", "test", imagenet)
    assert test.class_names == ("tench", "crane (n02)", "crane (n03)")
    np.testing.assert_array_equal(test.labels, [2, 0, 1])


def test_imagenet_in_kaggles_folders(imagenet):
    add_kaggle_files(imagenet)
    folder = imagenet / "ILSVRC" / "Data" / "CLS-LOC"
    folder.mkdir(parents=True)
    for part in ("train", "val"):
        (imagenet / part).rename(folder / part)
    assert len(load_dataset("imagenet", "train", imagenet)) == 6
    np.testing.assert_array_equal(load_dataset("imagenet", "test", imagenet).labels, [2, 0, 1])


def test_imagenet_validation_in_class_folders(imagenet):
    shutil.rmtree(imagenet / "val")
    for one in ("n03", "n01", "n02"):
        write_image(imagenet / "val" / one / "ILSVRC2012_val_00000009.JPEG", (0, 0, 0))
    test = load_dataset("imagenet", "test", imagenet)
    np.testing.assert_array_equal(test.labels, [0, 1, 2])
    assert test.class_names == ("n01", "n02", "n03")  # no file tells their words


def test_imagenet_class_missing_in_validation(imagenet):
    shutil.rmtree(imagenet / "val")
    write_image(imagenet / "val" / "n01" / "a.JPEG", (0, 0, 0))
    with pytest.raises(ValueError, match=r"val has no folder for 2 of the classes in .*train, such as 'n02'"):
        load_dataset("imagenet", "test", imagenet)


def test_imagenet_flat_validation_without_labels(imagenet):
    with pytest.raises(
        FileNotFoundError, match=r"flat val/\*.JPEG with LOC_val_solution.csv or ILSVRC2012_devkit"
    ):
        load_dataset("imagenet", "test", imagenet)


def test_imagenet_image_without_label(imagenet):
    add_kaggle_files(imagenet)
    write_image(imagenet / "val" / "ILSVRC2012_val_00000004.JPEG", (0, 0, 0))
    with pytest.raises(ValueError, match=r"LOC_val_solution.csv .*ILSVRC2012_val_00000004.JPEG"):
        load_dataset("imagenet", "test", imagenet)


def test_imagenet_label_out_of_range(imagenet):
    kit = add_development_kit(imagenet)
    (kit / "ILSVRC2012_validation_ground_truth.txt").write_text("2\n1001\n1\n")
    with pytest.raises(ValueError, match=r"ground_truth.txt .*ILSVRC2012_val_00000002.JPEG"):
        load_dataset("imagenet", "test", imagenet)


def test_imagenet_label_of_a_class_without_training_images(imagenet):
    add_kaggle_files(imagenet)
    shutil.rmtree(imagenet / "train" / "n03")
    with pytest.raises(ValueError, match=r"val_00000001.JPEG the class n03, which is not one of the 2 known"):
        load_dataset("imagenet", "test", imagenet)
