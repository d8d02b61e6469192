"""Lists of videos in all their forms."""

import numpy as np
import pytest

from data_sets import batches, load_dataset
from tests.data_sets.test_videos import write_video

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("kinetics")
    for path in ("train/archery/a b_000001_000011.mp4", "train/bowling/c_000002_000012.mp4", "val/d.mp4"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        write_video(root / path, range(0, 1001, 200))
    return root


def with_lists(folder, tmp_path, **lists):
    """A folder with the videos of `folder` and these lists."""
    for name in ("train", "val"):
        (tmp_path / name).symlink_to(folder / name)
    for name, content in lists.items():
        (tmp_path / name.replace("__", ".")).write_text(content)
    return tmp_path


NUMBERED = "train/archery/a b_000001_000011.mp4{0}0\ntrain/bowling/c_000002_000012.mp4{0}1\n"


@pytest.mark.parametrize("separator", [" ", ",", "\t"])
def test_paths_and_numbers(separator, folder, tmp_path):
    """The classes are named by the folders of the videos."""
    content = NUMBERED.format(separator)
    root = with_lists(folder, tmp_path, train__csv=content, val__txt=f"val/d.mp4{separator}1\n")
    train, test = load_dataset("kinetics", "train", root), load_dataset("kinetics", "test", root)
    assert train.labels.tolist() == [0, 1] and test.labels.tolist() == [1]
    assert train.task == "video_classification" and train.image_shape == (8, 224, 224, 3)
    assert train.images.paths[0].endswith("/a b_000001_000011.mp4")
    ((images, labels),) = batches(train, batch_size=2, image_shape=(3, 16, 24, 3))
    assert images.shape == (2, 3, 16, 24, 3) and labels.tolist() == [0, 1]
    assert train[0]["image"].shape == (8, 32, 48, 3)


def test_names_of_classes(folder, tmp_path):
    root = with_lists(folder, tmp_path, train__csv=NUMBERED.format(" "), test__csv="val/d.mp4 2\n")
    assert load_dataset("kinetics", "train", root).class_names == ("archery", "bowling", "val")
    (root / "classes.txt").write_text("shooting arrows\nbowling\nother\n")
    assert load_dataset("kinetics", "test", root).class_names == ("shooting arrows", "bowling", "other")
    (root / "classes.txt").write_text("one\ntwo\n")
    with pytest.raises(ValueError, match="label 2 at position 0 is not one of 0 to 1"):
        load_dataset("kinetics", "test", root)


def test_official_list(folder, tmp_path):
    """Videos that are not there any more are left out."""
    rows = ["label,youtube_id,time_start,time_end,split", "archery,a b,1,11,train", "bowling,c,2,12,train"]
    rows.append("zumba,gone,3,13,train")
    root = with_lists(folder, tmp_path, train__csv="\n".join(rows))
    train = load_dataset("kinetics", "train", root)
    assert train.class_names == ("archery", "bowling", "zumba")
    assert train.labels.tolist() == [0, 1] and len(train.images) == 2
    (root / "train.csv").write_text("\n".join([rows[0], rows[3]]))
    with pytest.raises(OSError, match=r"none of the 1 videos of .*train\.csv is in "):
        load_dataset("kinetics", "train", root)
    (root / "train.csv").write_text("\n".join([rows[0], "archery,a b,one,11,train"]))
    with pytest.raises(ValueError, match="line 2: expected label, youtube_id, time_start, time_end"):
        load_dataset("kinetics", "train", root)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("video.mp4", "line 1: expected a path and a class number; received 'video.mp4'"),
        ("train/bowling/c_000002_000012.mp4 bowling", "line 1: expected a path and a class number"),
        ("nowhere.mp4 0\n", r"train.csv names 1 videos that are not there, such as .*nowhere.mp4"),
    ],
)
def test_wrong_lists(content, message, folder, tmp_path):
    root = with_lists(folder, tmp_path, train__csv=content)
    with pytest.raises((ValueError, OSError), match=message):
        load_dataset("kinetics", "train", root)


def test_without_a_list(tmp_path):
    with pytest.raises(OSError, match=r"A list of videos was not found in .*: expected train\.csv"):
        load_dataset("kinetics", "train", tmp_path)
    with pytest.raises(OSError, match="because no data_dir was given"):
        load_dataset("kinetics", "train")


def test_a_damaged_video_is_named(folder, tmp_path):
    root = with_lists(folder, tmp_path, train__csv="broken.mp4 0\n")
    (root / "broken.mp4").write_bytes(b"\0" * 1000)
    train = load_dataset("kinetics", "train", root)
    with pytest.raises(OSError, match=r"cannot read the video .*broken.mp4"):
        np.asarray(train[0]["image"])
