"""Detection as a task: what is detected, how good and how alike that is, what is learned and drawn."""

import keras
import numpy as np
import pytest

from hsvit_keras.tasks import task_named
from hsvit_runtime import box_labels
from hsvit_runtime.errors import InputError

DETECTION, DENSE = task_named("detection"), task_named("dense_detection")


def outputs(*detections, queries=4, classes=3):
    """Outputs of one image that say these detections (class, score, x, y, width, height)."""
    logits = np.full((1, queries, classes), -8.0, np.float32)
    boxes = np.full((1, queries, 4), 0.5, np.float32)
    for query, (one, score, *box) in enumerate(detections):
        logits[0, query, one] = np.log(score / (1 - score))
        boxes[0, query] = box
    return {"logits": logits, "boxes": boxes}


def labels(*rows):
    return box_labels.padded([[(*row, 0)[:6] for row in rows]])


HERE, THERE = (0.3, 0.3, 0.2, 0.2), (0.7, 0.7, 0.2, 0.2)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        # One of two found: a precision of 1 up to a recall of 0.5, 51 of COCO's 101 points.
        ([(0, 0.9, *HERE)], 51 / 101),
        ([(0, 0.9, *HERE), (0, 0.8, *THERE)], 1.0),
        # A wrong one before the first: half of what is found is right.
        ([(0, 0.9, 0.5, 0.1, 0.1, 0.1), (0, 0.8, *HERE)], 0.5 * 51 / 101),
        ([(0, 0.9, 0.5, 0.1, 0.1, 0.1)], 0.0),
        # The same object twice counts once; the second, behind all that is right, costs nothing.
        ([(0, 0.9, *HERE), (0, 0.8, *THERE), (0, 0.7, *THERE)], 1.0),
    ],
)
def test_average_precision_is_that_of_its_definition(said, expected):
    found = DETECTION.evaluate(outputs(*said), labels((0, *HERE), (0, *THERE)))
    assert list(found) == ["ap", "ap50", "ap75"]
    assert found["ap50"] == pytest.approx(expected, abs=1e-6)


def test_overlap_decides_what_counts():
    """Moved by a tenth of their side, boxes overlap by 9 / 11: enough for seven of the ten thresholds."""
    said = outputs((0, 0.9, 0.32, 0.3, 0.2, 0.2))
    found = DETECTION.evaluate(said, labels((0, *HERE)))
    assert (found["ap50"], found["ap75"], found["ap"]) == pytest.approx((1, 1, 0.7), abs=1e-6)


def test_crowds_are_neither_missed_nor_wrong():
    said = outputs((0, 0.9, *HERE), (0, 0.95, 0.7, 0.7, 0.1, 0.1))
    crowd = labels((0, *HERE, 0), (0, *THERE, 1))
    assert DETECTION.evaluate(said, crowd)["ap"] == pytest.approx(1)
    assert DETECTION.evaluate(outputs((0, 0.9, *HERE)), crowd)["ap"] == pytest.approx(1)


def test_without_any_box_or_number_there_is_no_precision():
    empty = box_labels.padded([np.zeros((0, 6))])
    assert DETECTION.evaluate(outputs((0, 0.9, *HERE)), empty)["ap"] == 0
    broken = {name: np.full_like(array, np.nan) for name, array in outputs().items()}
    assert DETECTION.evaluate(broken, labels((0, *HERE)))["ap"] == 0


def test_dense_detections_are_suppressed_in_their_class():
    said = outputs((0, 0.8, *HERE), (0, 0.9, 0.31, 0.3, 0.2, 0.2), (1, 0.7, *HERE), (0, 0.6, *THERE))
    kept = [
        (int(one), round(float(score), 2))
        for one, score in zip(*(part[0] for part in _parts(DENSE.detections(said))), strict=True)
        if score > 0.5
    ]
    assert kept == [(0, 0.9), (1, 0.7), (0, 0.6)]
    assert (DETECTION.detections(said).scores > 0.5).sum() == 4


def _parts(detections):
    return detections.classes, detections.scores


def test_two_models_agree_in_what_both_keep():
    expected = outputs((0, 0.9, *HERE), (1, 0.8, *THERE))
    same = DETECTION.compare(expected, expected)
    assert (same["detection_agreement"], same["alike"], same["max_abs_diff"]) == (1, 1, 0)
    moved = outputs((0, 0.7, 0.305, 0.3, 0.2, 0.2), (1, 0.9, *THERE))
    assert DETECTION.compare(expected, moved)["detection_agreement"] == 1
    lost = DETECTION.compare(expected, outputs((0, 0.9, *HERE)))
    assert (lost["detection_agreement"], lost["alike"]) == (0.5, 0.5)
    other = DETECTION.compare(expected, outputs((2, 0.9, *HERE), (1, 0.8, *THERE)))
    assert other["detection_agreement"] == pytest.approx(1 / 3)
    broken = {**expected, "logits": np.where(expected["logits"] > 1, np.nan, expected["logits"])}
    assert DETECTION.compare(expected, broken)["alike"] == 0


def test_a_score_at_the_threshold_is_left_to_rounding():
    compared = DETECTION.compare(outputs((0, 0.51, *HERE)), outputs((0, 0.49, *HERE)))
    assert (compared["detection_agreement"], compared["alike"]) == (0, 1)
    compared = DETECTION.compare(outputs((0, 0.49, *HERE)), outputs((0, 0.51, *HERE)))
    assert (compared["detection_agreement"], compared["alike"]) == (0, 1)
    assert DETECTION.compare(outputs((0, 0.2, *HERE)), outputs((0, 0.6, *HERE)))["alike"] == 0


def test_without_detections_the_tensors_tell():
    rng = np.random.default_rng(0)
    quiet = {name: array - rng.random(array.shape, "float32") / 9 for name, array in outputs().items()}
    assert DETECTION.compare(quiet, quiet)["alike"] == 1
    other = {**quiet, "logits": quiet["logits"] - 3}
    assert DETECTION.compare(quiet, other)["alike"] < 0.1


@pytest.mark.parametrize(
    ("shapes", "names", "message"),
    [
        ([(None, 10)], None, r"has to detect objects, with the outputs boxes \(batch, queries, 4\)"),
        ([(None, 5, 4), (None, 6, 2)], None, "has to detect objects"),
        ([(None, 5, 3), (None, 5, 2)], None, "has to detect objects"),
        ([(None, 5, 4), (None, 5, 2)], ("a",), "m has 2 classes and 1 class names"),
    ],
)
def test_outputs_of_another_task_are_refused(shapes, names, message):
    with pytest.raises(InputError, match=message):
        DETECTION.check_outputs(shapes, names, "m")


def test_what_cannot_be_learned_is_said():
    with pytest.raises(InputError, match="outputs are called boxes and logits; received scores"):
        DETECTION.evaluate({"scores": np.zeros((1, 2))}, labels())
    with pytest.raises(InputError, match=r"label_smoothing has to be 0; received 0\.1"):
        DETECTION.loss(0.1)
    inputs = keras.Input((2,))
    with pytest.raises(InputError, match="has to give a dict of logits and boxes"):
        DETECTION.learner(keras.Model(inputs, keras.layers.Dense(3)(inputs)))


def test_the_learner_gives_logits_and_boxes_in_one_tensor():
    inputs = keras.Input((2,))
    logits = keras.layers.Reshape((2, 3))(keras.layers.Dense(6)(inputs))
    boxes = keras.layers.Reshape((2, 4))(keras.layers.Dense(8)(inputs))
    model = keras.Model(inputs, {"logits": logits, "boxes": boxes})
    values = np.ones((1, 2), "float32")
    expected = model.predict_on_batch(values)
    found = DETECTION.learner(model).predict_on_batch(values)
    assert found.shape == (1, 1, 2, 7)
    np.testing.assert_array_equal(found[0, 0, :, :3], expected["logits"][0])
    np.testing.assert_array_equal(found[0, 0, :, 3:], expected["boxes"][0])


def test_kept_detections_are_drawn_with_their_names():
    images = np.zeros((1, 20, 40, 1), np.uint8)
    said = outputs((0, 0.9, *HERE), (1, 0.3, *THERE))
    figure = DETECTION.draw(images, labels((2, *HERE)), said, ("a", "b", "c"))
    (axes,) = [axes for axes in figure.axes if axes.images]
    right, found = axes.patches
    for patch in (right, found):
        assert (patch.get_x(), patch.get_y()) == pytest.approx((0.2 * 40 - 0.5, 0.2 * 20 - 0.5))
        assert (patch.get_width(), patch.get_height()) == pytest.approx((8, 4))
    assert [text.get_text() for text in axes.texts] == ["a 90%"]
