"""The task of clips: they are augmented as one, judged as classes, and drawn in strips."""

import numpy as np
import pytest

from hsvit_keras.tasks import Classification, VideoClassification, task_named, task_of
from hsvit_runtime.description import Description
from hsvit_runtime.pixels import side_by_side
from training.fitting.augmentation import Augmentation

pytestmark = pytest.mark.once

CLIPS = np.random.default_rng(0).integers(0, 256, (4, 3, 8, 10, 3)).astype(np.uint8)
LABELS = np.array([0, 1, 1, 2], np.int32)


def test_its_name_stands_in_files():
    task = task_of(Description(task="video_classification"), [(None, 3)])
    assert task is task_named("video_classification") and isinstance(task, VideoClassification)
    assert task.metric == Classification().metric


def test_frames_stay_in_place_and_order():
    clips, targets = Augmentation((), VideoClassification(), 3)(CLIPS, LABELS, np.random.default_rng(0))
    np.testing.assert_array_equal(clips, CLIPS)
    np.testing.assert_array_equal(targets, np.eye(3)[LABELS])


@pytest.mark.parametrize(
    "operation",
    [
        ("RandomFlip", {"mode": "horizontal"}),
        ("RandomTranslation", {"height_factor": 0.4, "width_factor": 0.4, "fill_mode": "wrap"}),
    ],
)
def test_all_frames_of_a_clip_change_alike(operation):
    """Clips of one frame, repeated, stay so; different clips change differently."""
    still = np.repeat(CLIPS[:1, :1], 3, axis=1).repeat(16, axis=0)
    changed, _ = Augmentation([operation], VideoClassification(), 3)(
        still, np.zeros(16, int), np.random.default_rng(1)
    )
    np.testing.assert_allclose(changed, changed[:, :1].repeat(3, axis=1), atol=1e-3)
    assert 2 <= len(np.unique(changed[:, 0].reshape(16, -1).round(2), axis=0)) <= 16


def test_a_flip_of_clips_is_that_of_their_frames():
    flipped, _ = Augmentation([("RandomFlip", {"mode": "horizontal"})], VideoClassification(), 3)(
        CLIPS, LABELS, np.random.default_rng(3)
    )
    for before, after in zip(CLIPS, flipped, strict=True):
        assert any(np.array_equal(after, wanted) for wanted in (before, before[:, :, ::-1]))


def test_operations_on_colours_say_that_clips_have_none():
    with pytest.raises(ValueError, match="RandAugment changes colours of images, not of clips"):
        Augmentation([("RandAugment", {})], VideoClassification(), 3).try_out((3, 8, 10, 3), LABELS[:1])


def test_pictures_show_the_frames_side_by_side():
    strip = side_by_side(CLIPS[0])
    assert strip.shape == (8, 30, 3)
    np.testing.assert_array_equal(strip[:, 10:19], CLIPS[0, 1, :, :9])
    outputs = {"logits": np.eye(3)[[0, 1, 2, 2]]}
    figure = VideoClassification().draw(CLIPS, LABELS, outputs, ("up", "down", "still"))
    assert [axes.get_title() for axes in figure.axes] == ["up", "down", "still, not down", "still"]
    np.testing.assert_array_equal(figure.axes[3].images[0].get_array(), side_by_side(CLIPS[3]))
