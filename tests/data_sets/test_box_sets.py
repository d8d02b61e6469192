"""Data sets with boxes: COCO, Pascal folders and scenes of digits; boxes follow their images."""

import json

import numpy as np
import pytest
from PIL import Image

from data_sets import batches, few_of, load_dataset, sample_images, split_off
from data_sets.crops import CentreCrop, CropOfModel, RandomPartOrWhole
from data_sets.dataset import ImageDataset
from data_sets.images import ImageFiles
from data_sets.sampling import classes_in
from hsvit_runtime import box_labels
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.resizing import Resizing
from tests.data_sets.making import write_image
from training.augmenting.flipping import RandomFlip

pytestmark = pytest.mark.once


# ---- COCO --------------------------------------------------------------------------------------------


def write_coco(
    folder, part, annotations, images=((7, 40, 20), (3, 10, 30)), categories=((18, "dog"), (2, "car"))
):
    """Writes images of different sizes and their annotations (image, category, x, y, w, h, crowd)."""
    for number, width, height in images:
        write_image(folder / part / f"{number:012}.jpg", np.zeros((height, width, 3), np.uint8))
    content = {
        "images": [
            {"id": number, "file_name": f"{number:012}.jpg", "width": width, "height": height}
            for number, width, height in images
        ],
        "categories": [{"id": number, "name": name} for number, name in categories],
        "annotations": [
            {"id": i, "image_id": image, "category_id": category, "bbox": box, "iscrowd": crowd, "area": 1}
            for i, (image, category, *box, crowd) in enumerate(annotations)
        ],
    }
    (folder / "annotations").mkdir(exist_ok=True)
    (folder / "annotations" / f"instances_{part}.json").write_text(json.dumps(content))


def test_coco_gives_boxes_crowds_and_images_without_any(tmp_path):
    boxes = [(7, 18, 10, 5, 20, 10, 0), (7, 2, 30, 10, 20, 10, 1), (7, 2, 40, 0, 5, 5, 0)]
    write_coco(tmp_path, "train2017", boxes)
    write_coco(tmp_path, "val2017", [])
    found = load_dataset("coco", "train", tmp_path)
    assert (found.class_names, found.task, len(found)) == (("car", "dog"), "detection", 2)
    assert [path[-16:] for path in found.images.paths] == ["000000000003.jpg", "000000000007.jpg"]
    # Cut off at the right edge; what lies beyond it is left out.
    expected = [[1, 0.5, 0.5, 0.5, 0.5, 0], [0, 0.875, 0.75, 0.25, 0.5, 1]]
    np.testing.assert_allclose(found.labels[1], expected, atol=1e-6)
    assert (found.labels[0, :, 0] == -1).all()
    assert (load_dataset("coco", "test", tmp_path).labels[..., 0] == -1).all()


def test_what_is_wrong_with_coco_is_said(tmp_path):
    with pytest.raises(MissingFileError, match=r"COCO was not found .* expected annotations/instances_train"):
        load_dataset("coco", "train", tmp_path)
    write_coco(tmp_path, "train2017", [])
    (tmp_path / "train2017" / "000000000003.jpg").unlink()
    with pytest.raises(MissingFileError, match=r"lacks 1 of the 2 images in .*, such as 000000000003.jpg"):
        load_dataset("coco", "train", tmp_path)
    write_coco(tmp_path, "train2017", [(7, 99, 0, 0, 5, 5, 0)])
    with pytest.raises(InputError, match=r"instances_train2017.json is no annotation file .*there is no 99$"):
        load_dataset("coco", "train", tmp_path)


# ---- Pascal ------------------------------------------------------------------------------------------


def write_voc(folder, objects, lists=None, size=(40, 20)):
    """Writes images and annotations of {name: [(class, xmin, ymin, xmax, ymax, difficult)]}."""
    (folder / "Annotations").mkdir(parents=True)
    for name, of_image in objects.items():
        write_image(folder / "JPEGImages" / f"{name}.jpg", np.zeros((20, 40, 3), np.uint8))
        found = "".join(
            f"<object><name>{one}</name><difficult>{difficult}</difficult><bndbox><xmin>{x0}</xmin>"
            f"<ymin>{y0}</ymin><xmax>{x1}</xmax><ymax>{y1}</ymax></bndbox></object>"
            for one, x0, y0, x1, y1, difficult in of_image
        )
        sides = f"<size><width>{size[0]}</width><height>{size[1]}</height></size>" if size else ""
        (folder / "Annotations" / f"{name}.xml").write_text(f"<annotation>{sides}{found}</annotation>")
    for name, content in (lists or {}).items():
        (folder / "ImageSets" / "Main").mkdir(parents=True, exist_ok=True)
        (folder / "ImageSets" / "Main" / f"{name}.txt").write_text("\n".join(content))


@pytest.mark.parametrize("size", [(40, 20), None])
def test_pascal_counts_pixels_from_one(tmp_path, size):
    objects = {"a": [("dog", 1, 1, 40, 20, 0), ("car", 11, 6, 20, 15, 1)], "b": []}
    write_voc(tmp_path, objects, {"trainval": ["a"], "test": ["b"], "dog_train": ["a 1"]}, size)
    found = load_dataset("voc", "train", tmp_path)
    dog, car = found.class_names.index("dog"), found.class_names.index("car")
    assert len(found.class_names) == 20
    expected = [[dog, 0.5, 0.5, 1, 1, 0], [car, 0.375, 0.5, 0.25, 0.5, 1]]
    np.testing.assert_allclose(found.labels[0], expected, atol=1e-6)
    test = load_dataset("voc", "test", tmp_path)
    assert len(test) == 1 and (test.labels[..., 0] == -1).all()


def test_a_folder_like_pascals_needs_no_lists_and_has_its_own_classes(tmp_path):
    write_voc(tmp_path, {f"{i}": [("cup", 1, 1, 9, 9, 0)] for i in range(20)})
    train, test = (load_dataset("voc", split, tmp_path) for split in ("train", "test"))
    assert train.class_names == test.class_names == ("cup",)
    assert len(train) + len(test) == 20 and len(test) > 0
    assert not set(train.images.paths) & set(test.images.paths)


def test_what_is_wrong_with_a_pascal_folder_is_said(tmp_path):
    with pytest.raises(MissingFileError, match="expected Annotations"):
        load_dataset("voc", "train", tmp_path)
    write_voc(tmp_path, {"a": [], "b": []}, {"train": ["a", "c"], "val": ["b"]})
    with pytest.raises(MissingFileError, match=r"Annotations/c\.xml is not there"):
        load_dataset("voc", "train", tmp_path)
    (tmp_path / "ImageSets" / "Main" / "train.txt").write_text("a")
    (tmp_path / "Annotations" / "a.xml").write_text("<annotation><object/></annotation>")
    with pytest.raises(InputError, match=r"a\.xml is no annotation in Pascal's format"):
        load_dataset("voc", "train", tmp_path)


# ---- digits ------------------------------------------------------------------------------------------


def test_scenes_hold_one_to_eight_digits_of_several_sizes_that_overlap():
    scenes = load_dataset("digits_detection", "test")
    assert scenes.images.shape == (500, 64, 64, 1) and scenes.images.dtype == np.uint8
    is_box = scenes.labels[..., 0] >= 0
    assert set(is_box.sum(1)) == set(range(1, 9))
    boxes = scenes.labels[is_box]
    assert set(boxes[:, 0]) == set(range(10)) and not boxes[:, 5].any()
    low, high = boxes[:, 1:3] - boxes[:, 3:5] / 2, boxes[:, 1:3] + boxes[:, 3:5] / 2
    assert low.min() >= 0 and high.max() <= 1
    assert 64 * boxes[:, 4].min() < 13 and 64 * boxes[:, 4].max() > 26
    covered = 0
    for labels, exists in zip(scenes.labels, is_box, strict=True):
        corners = np.concatenate(
            [labels[:, 1:3] - labels[:, 3:5] / 2, labels[:, 1:3] + labels[:, 3:5] / 2], 1
        )
        one, other = corners[exists][:, None], corners[exists][None]
        sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
        covered += (np.maximum(sides, 0).prod(-1) > 1e-6).sum() - exists.sum()
    assert covered > 100


def test_a_box_holds_its_digit():
    """Within a box that nothing covers, pixels differ more from each other than just around it."""
    scenes = load_dataset("digits_detection", "test")
    inside, around = [], []
    for image, labels in zip(scenes.images[..., 0], scenes.labels, strict=True):
        if (labels[:, 0] >= 0).sum() == 1:
            center, sides = labels[0, 1:3] * 64, labels[0, 3:5] * 64
            (x0, y0), (x1, y1) = (
                np.rint(center - sides / 2).astype(int),
                np.rint(center + sides / 2).astype(int),
            )
            inside.append(image[y0:y1, x0:x1].std())
            rest = image.astype(float)
            rest[max(0, y0 - 2) : y1 + 2, max(0, x0 - 2) : x1 + 2] = np.nan
            around.append(np.nanstd(rest))
    assert len(inside) > 20
    assert np.median(inside) > 2 * np.median(around)


def test_parts_of_scenes_hold_all_classes_and_no_scene_twice():
    scenes = load_dataset("digits_detection", "test")
    few = few_of(scenes, 20)
    assert classes_in(few.labels).any(0).all() and classes_in(scenes.labels).shape == (500, 10)
    rest, split = split_off(scenes, 0.1)
    assert (len(rest), len(split)) == (450, 50)


# ---- boxes and their images --------------------------------------------------------------------------


def picture_with_a_box(box, size=(60, 40)):
    """A black image (H, W, 1) that is white within a box in pixels, and its labels."""
    x0, y0, x1, y1 = box
    image = np.zeros((size[1], size[0], 1), np.uint8)
    image[y0:y1, x0:x1] = 255
    return image, np.array([box_labels.row(0, box, size)], np.float32)


def white_box(pixels):
    """The corners of what is white, as shares of the image."""
    rows, columns = np.nonzero(pixels[..., 0] > 127)
    height, width = pixels.shape[:2]
    return np.array(
        [columns.min() / width, rows.min() / height, (columns.max() + 1) / width, (rows.max() + 1) / height]
    )


def corners(labels):
    return np.concatenate([labels[1:3] - labels[3:5] / 2, labels[1:3] + labels[3:5] / 2])


@pytest.mark.parametrize(
    "crop",
    [
        CentreCrop(),
        CentreCrop(0.875, "bicubic"),
        CropOfModel(Resizing("bilinear", (96, 96))),
        CropOfModel(Resizing("bilinear", 120)),
        RandomPartOrWhole(chance=1.0),
        RandomPartOrWhole(chance=0.0, scales=(0.6, 0.9)),
    ],
    ids=["centre", "centre_share", "stretched", "shorter_side", "part", "smaller"],
)
@pytest.mark.parametrize("in_file", [True, False])
def test_boxes_are_cropped_and_resized_with_their_images(tmp_path, crop, in_file):
    image, labels = picture_with_a_box((24, 12, 48, 33))
    images = image[np.newaxis]
    if in_file:
        Image.fromarray(image[..., 0]).save(tmp_path / "image.png")
        images = ImageFiles([tmp_path / "image.png"])
    dataset = ImageDataset("x", "train", ("a",), image.shape, images, labels[np.newaxis], "detection")
    for k, (pixels, found) in enumerate(
        batches(dataset, batch_size=1, image_shape=(96, 96, 1), crop=crop, epochs=4, seed=3)
    ):
        np.testing.assert_allclose(corners(found[0, 0]), white_box(pixels[0]), atol=1.6 / 96, err_msg=str(k))


def test_evaluated_and_sampled_boxes_are_the_same():
    scenes = load_dataset("digits_detection", "test")
    pixels, labels = sample_images(scenes, 500, image_shape=(32, 32, 1))
    assert len(pixels) == len(labels) == 500
    assert sorted(map(bytes, labels)) == sorted(map(bytes, scenes.labels))


def test_boxes_outside_of_a_part_are_left_out():
    rows = np.array([[3, 0.1, 0.1, 0.1, 0.1, 0], [4, 0.5, 0.5, 0.4, 0.4, 1], [-1, 0, 0, 0, 0, 0]], np.float32)
    found = box_labels.seen_in(rows, (0.5, 0.25, 1.5, 0.75))
    np.testing.assert_allclose(found[0], [4, 0.1, 0.5, 0.2, 0.8, 1], atol=1e-6)
    assert (found[1:, 0] == -1).all() and found.shape == rows.shape


def test_parts_are_as_large_as_detr_draws_them():
    crop, rng = RandomPartOrWhole(chance=1.0), np.random.default_rng(0)
    drawn = np.array([crop.box((80, 40), (64, 64), rng=rng) for _ in range(300)])
    sides = drawn[:, 2:] - drawn[:, :2]
    # The shorter side, 40, stands for 400, 500 or 600, and a part for 384 to 600 of them.
    assert (sides >= 40 * 384 / 600 - 1e-6).all() and (sides[:, 1] <= 40 + 1e-6).all()
    assert sides[:, 0].max() <= 60 + 1e-6
    assert (drawn[:, :2] >= -1e-6).all() and (drawn[:, 2:] <= [80 + 1e-6, 40 + 1e-6]).all()
    with pytest.raises(InputError, match="shorter_sides have to be at least the least of part_sides"):
        RandomPartOrWhole(shorter_sides=(100,))


def test_boxes_are_mirrored_with_their_images():
    image, labels = picture_with_a_box((6, 4, 30, 10))
    data = {"images": np.repeat(image[None], 40, 0), "box_labels": np.repeat(labels[None], 40, 0)}
    found = RandomFlip()(data, np.random.default_rng(0))
    assert len(np.unique(found["box_labels"][:, 0, 1:3], axis=0)) == 4
    for pixels, label in zip(found["images"], found["box_labels"], strict=True):
        np.testing.assert_allclose(corners(label[0]), white_box(pixels), atol=1e-6)
    assert data["box_labels"][0, 0, 1] == pytest.approx(0.3)
