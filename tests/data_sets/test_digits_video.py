"""Digits that move: the class is the movement, of which a single frame tells nothing."""

import itertools

import numpy as np
import pytest

from data_sets import load_dataset
from data_sets.digits_video import SIDE, moving

pytestmark = pytest.mark.once

# A digit that nothing turns or shifts into itself.
DIGIT = np.zeros((8, 8), np.uint8)
DIGIT[1:7, 2:4] = 255
DIGIT[5:7, 4:6] = 160


@pytest.fixture(scope="module")
def parts():
    return {split: load_dataset("digits_video", split) for split in ("train", "test")}


def test_parts(parts):
    for split, count in (("train", 1442), ("test", 355)):
        dataset = parts[split]
        assert dataset.images.shape == (count, 8, 24, 24, 1) and dataset.images.dtype == np.uint8
        assert dataset.image_shape == dataset.images.shape[1:] and dataset.task == "video_classification"
        assert np.ptp(np.bincount(dataset.labels, minlength=6)) <= 1
    assert np.array_equal(load_dataset("digits_video", "test").images, parts["test"].images)


def shift(before, after):
    """Pixels down and across from one frame to the other, by the peak of their correlation."""
    spectra = np.fft.fft2(before[..., 0].astype(float)), np.fft.fft2(after[..., 0].astype(float))
    product = np.fft.ifft2(np.conj(spectra[0]) * spectra[1]).real
    place = np.array(np.unravel_index(product.argmax(), product.shape))
    return (place + SIDE // 2) % SIDE - SIDE // 2


@pytest.mark.parametrize(
    ("movement", "down", "across"), [("right", 0, 1), ("left", 0, -1), ("down", 1, 0), ("up", -1, 0)]
)
def test_a_digit_moves_where_its_class_says(movement, down, across):
    for seed in range(5):
        clip = moving(DIGIT, movement, np.random.default_rng(seed))
        steps = [shift(one, other) for one, other in itertools.pairwise(clip)]
        assert (np.sign(steps) == np.sign([down, across])).all()
        assert 7 * 1.5 - 1 <= np.abs(np.sum(steps)) <= 7 * 3 + 1


@pytest.mark.parametrize(("movement", "sign"), [("turning left", 1), ("turning right", -1)])
def test_a_digit_turns_where_its_class_says(movement, sign):
    """By the axis of its ink, around the centre of that."""
    for seed in range(5):
        clip = moving(DIGIT, movement, np.random.default_rng(seed))[..., 0].astype(float)
        angles = []
        for frame in clip:
            frame = np.roll(frame, SIDE // 2 - _centre(frame), (0, 1))
            rows, columns = np.mgrid[:SIDE, :SIDE] - _mean(frame)[:, None, None]
            # The axis of most ink: angles are known up to half a turn, steps are much less than that.
            angles.append(
                0.5 * np.arctan2(-2 * (frame * rows * columns).sum(), (frame * (columns**2 - rows**2)).sum())
            )
        turned = np.unwrap(angles, period=np.pi)[-1] - angles[0]
        assert np.sign(turned) == sign and 7 * 10 < abs(np.degrees(turned)) < 7 * 26


def _centre(frame):
    """The place of most ink in its neighbourhood, without edges."""
    around = sum(np.roll(frame, (i, j), (0, 1)) for i in range(-5, 6) for j in range(-5, 6))
    return np.array(np.unravel_index(around.argmax(), around.shape))


def _mean(frame):
    return np.array([(frame * place).sum() for place in np.mgrid[:SIDE, :SIDE]]) / frame.sum()


def test_backwards_is_the_opposite_class():
    """The frames of a clip are those of a clip of another class: only their order tells."""
    for movement, (down, across) in {"right": (0, -1), "down": (-1, 0)}.items():
        backwards = moving(DIGIT, movement, np.random.default_rng(3))[::-1]
        steps = [shift(one, other) for one, other in itertools.pairwise(backwards)]
        assert (np.sign(steps) == [down, across]).all()


@pytest.mark.parametrize("number", [0, 7])
def test_a_single_frame_does_not_tell_the_class(parts, number):
    """The nearest of all training frames, and a linear model, guess right as often as chance does."""
    from sklearn.linear_model import RidgeClassifier
    from sklearn.neighbors import KNeighborsClassifier

    frames = {split: part.images[:, number].reshape(len(part), -1) / 255 for split, part in parts.items()}
    labels = {split: part.labels for split, part in parts.items()}
    for classifier in (KNeighborsClassifier(1), RidgeClassifier(100.0)):
        right = classifier.fit(frames["train"], labels["train"]).score(frames["test"], labels["test"])
        # 1/6 of 355, with four standard deviations of chance.
        assert abs(right - 1 / 6) < 4 * np.sqrt(1 / 6 * 5 / 6 / 355)


def test_frames_look_alike_in_all_classes(parts):
    """Their mean picture is flat, the same for each class, in each place of a clip."""
    train = parts["train"]
    for number in (0, 4, 7):
        frames = train.images[:, number, :, :, 0] / 255
        spread = frames.std() / np.sqrt(240)
        for label in range(6):
            difference = frames[train.labels == label].mean(0) - frames.mean()
            assert np.sqrt(np.mean(difference**2)) < 1.25 * spread
