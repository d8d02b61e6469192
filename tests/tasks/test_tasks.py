"""Outputs judged and compared, against numbers that are known by hand."""

import dataclasses
import warnings

import keras
import numpy as np
import pytest

from hsvit_keras.tasks import (
    TASKS,
    BinaryClassification,
    Classification,
    Measure,
    MultiLabelClassification,
    Regression,
    Segmentation,
    Task,
    task_named,
    task_of,
)
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError


def compare(task, expected, outputs):
    return task.compare({"logits": np.asarray(expected)}, {"logits": np.asarray(outputs)})


# ---- how near two outputs are ----------------------------------------------------------------------
def test_equal_outputs():
    outputs = np.array([[1.0, -2.0], [0.5, 3.0]])
    assert compare(Classification(), outputs, outputs) == {
        "samples": 2,
        "max_abs_diff": 0.0,
        "cosine": pytest.approx(1.0),
        "largest_output": 3.0,
        "top1_agreement": 1.0,
        "alike": 1.0,
    }


def test_known_outputs():
    expected = np.array([[3.0, 0.0], [0.0, 4.0], [1.0, 0.0], [0.0, 1.0]])
    outputs = np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 1.0], [0.0, 1.0]])
    agreement = compare(Classification(), expected, outputs)
    assert agreement["samples"] == 4
    assert agreement["top1_agreement"] == 0.75
    assert agreement["max_abs_diff"] == 1.0
    assert agreement["largest_output"] == 4.0
    assert agreement["cosine"] == pytest.approx(26 / 27)


def test_permuted_classes_agree_where_the_permutation_has_a_fixed_point():
    expected = np.eye(4)  # image i is of class i
    agreement = compare(Classification(), expected, expected[:, [0, 2, 1, 3]])
    assert agreement["top1_agreement"] == 0.5
    assert agreement["cosine"] == pytest.approx(0.5)
    assert agreement["max_abs_diff"] == 1.0


def test_cosine_does_not_see_a_scale_but_the_difference_does():
    expected = np.array([[1.0, 2.0, 3.0]])
    agreement = compare(Task(), expected, 2 * expected)
    assert agreement["cosine"] == pytest.approx(1.0)
    assert agreement["max_abs_diff"] == 3.0
    assert "top1_agreement" not in agreement


def test_outputs_that_are_zero():
    zero, one = np.zeros((1, 2)), np.ones((1, 2))
    assert compare(Task(), zero, zero)["cosine"] == 1.0
    assert compare(Task(), zero, one)["cosine"] == 0.0
    assert compare(Task(), zero, one)["largest_output"] == 0.0


def test_of_several_outputs_the_worst_counts():
    expected = {"a": np.array([[1.0, 0.0]]), "b": np.array([[5.0]])}
    outputs = {"a": np.array([[1.0, 1.0]]), "b": np.array([[8.0]])}
    agreement = Task().compare(expected, outputs)
    assert agreement["samples"] == 1
    assert agreement["cosine"] == pytest.approx(np.sqrt(0.5))
    assert agreement["max_abs_diff"] == 3.0
    assert agreement["largest_output"] == 5.0


def test_pixels_of_the_same_class():
    expected = np.array([[[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]]])  # classes 0 0 / 1 1
    outputs = np.array([[[[2.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 3.0]]]])  # classes 0 1 / 1 1
    agreement = compare(Segmentation(), expected, outputs)
    assert agreement["samples"] == 1
    assert agreement["pixel_agreement"] == 0.75
    assert agreement["max_abs_diff"] == 2.0


@pytest.mark.parametrize(
    ("expected", "outputs", "message"),
    [
        ({"a": np.zeros((2, 3))}, {"a": np.zeros((2, 4))}, r"of one shape; received \(2, 3\), \(2, 4\)"),
        ({"a": np.zeros((0, 3))}, {"a": np.zeros((0, 3))}, r"of one shape; received \(0, 3\), \(0, 3\)"),
        ({"a": np.zeros((1, 1))}, {"b": np.zeros((1, 1))}, "the outputs a and b cannot be compared"),
        ({}, {}, "the outputs none and none cannot be compared"),
    ],
)
def test_outputs_that_cannot_be_compared_are_refused_in_one_line(expected, outputs, message):
    for task in (Task(), Classification(), Segmentation()):
        with pytest.raises(InputError, match=message) as raised:
            task.compare(expected, outputs)
        assert "\n" not in str(raised.value)


def test_an_offset_does_not_hide_that_numbers_differ():
    expected = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 3.0], [6.0, 7.0]])
    near = expected + 0.5  # a quarter of the deviation in each column is 0.56
    far = near + np.array([0.0, 0.1])
    for offset in (0.0, 1e6):
        assert compare(Regression(), expected + offset, near + offset)["alike"] == 1.0
        assert compare(Task(), expected + offset, far + offset)["alike"] == 0.5
    assert compare(Task(), expected + 1e6, 0 * expected + 1e6)["cosine"] == pytest.approx(1.0)
    assert compare(Task(), expected + 1e6, 0 * expected + 1e6)["alike"] == 1 / 8  # the 0


def test_one_sample_is_measured_by_its_own_size():
    assert compare(Task(), [[3.0, -4.0]], [[3.5, -4.0]])["alike"] == 1.0  # a quarter of 3.54 are 0.88
    assert compare(Task(), [[3.0, -4.0]], [[4.0, -4.0]])["alike"] == 0.5
    assert compare(Task(), [[3.0, -4.0]], [[np.nan, -4.0]])["alike"] == 0.5


def test_of_several_outputs_the_least_alike_counts():
    expected = {"a": np.array([[1.0], [2.0]]), "b": np.array([[1.0], [2.0]])}
    outputs = {"a": np.array([[1.0], [2.0]]), "b": np.array([[1.0], [9.0]])}
    assert Task().compare(expected, outputs)["alike"] == 0.5


def test_classes_that_are_nearly_tied_are_alike():
    expected = np.array([[4.0, 0.0, 0.0], [1.1, 1.0, 0.0], [2.0, 1.0, 0.0]])  # of a deviation of 1.2
    outputs = expected[:, [1, 0, 2]]
    compared = compare(Classification(), expected, outputs)
    assert (compared["top1_agreement"], compared["alike"]) == (0.0, 1 / 3)
    assert compare(Classification(), expected, np.full((3, 3), np.nan))["alike"] == 0.0


def test_decisions():
    logits = np.array([[2.0, -3.0], [-0.01, 1.0]])
    for task, name in (
        (MultiLabelClassification(), "label_agreement"),
        (BinaryClassification(), "decision_agreement"),
    ):
        compared = compare(task, logits, [[2.0, 3.0], [0.01, 1.0]])
        assert (compared[name], compared["alike"]) == (0.5, 0.75)  # one of them hardly was a decision


def test_decisions_of_probabilities_and_of_logits_are_compared_in_one_form():
    task, logits = BinaryClassification(), np.array([[2.0], [-3.0], [0.5]])
    probabilities = 1 / (1 + np.exp(-logits))
    one, other = task.comparable({"x": logits}), task.comparable({"y": probabilities}, probabilities=True)
    np.testing.assert_allclose(one["decisions"], other["decisions"])
    assert task.compare(one, other)["decision_agreement"] == 1.0
    stepped = task.comparable({"x": logits}, step=1 / 256)
    np.testing.assert_allclose(stepped["decisions"], np.rint(probabilities * 256) / 256 - 0.5)
    assert np.isfinite(
        task.comparable({"y": np.array([[0.0], [1.0]])}, probabilities=True)["decisions"]
    ).all()


# ---- how good outputs are --------------------------------------------------------------------------
def test_accuracy():
    logits = np.array([[0.1, 0.9], [0.8, 0.2], [0.4, 0.6]])
    assert Classification().evaluate({"logits": logits}, [1, 0, 0]) == {"accuracy": pytest.approx(2 / 3)}


def test_mean_iou_of_masks_counted_by_hand():
    labels = np.array([[[0, 0, 1], [1, 1, 0]]])
    predicted = np.array([[[0, 1, 1], [1, 0, 0]]])
    logits = np.eye(3)[predicted]  # a third class that occurs in neither does not count
    # Class 0: 2 pixels in both, 4 in either. Class 1: 2 in both, 4 in either.
    assert Segmentation().evaluate({"masks": logits}, labels) == {"mean_iou": pytest.approx(0.5)}


def test_mean_iou_of_a_class_that_is_only_predicted_is_zero():
    logits = np.eye(2)[np.array([[[0, 0, 0, 1]]])]
    # Class 0: 3 of 4 pixels. Class 1: 0 of 1.
    assert Segmentation().evaluate({"masks": logits}, np.zeros((1, 1, 4), int)) == {"mean_iou": 0.375}


def test_equal_masks_have_a_mean_iou_of_one():
    labels = np.array([[[0, 1], [2, 1]]])
    assert Segmentation().evaluate({"masks": np.eye(3)[labels]}, labels) == {"mean_iou": 1.0}


def test_tensors_are_not_judged():
    assert Task().evaluate({"a": np.zeros((1, 2))}, [0]) == {}
    assert (Task().metric, Task().agreement.name) == (None, "alike")


# ---- measures --------------------------------------------------------------------------------------
def test_a_measure_knows_its_direction_and_its_unit():
    accuracy = Classification().metric
    assert accuracy.best([0.1, 0.3, 0.2]) == 1
    assert accuracy.loss_in_points(0.9, 0.85) == pytest.approx(5.0)
    assert (accuracy.format(0.9756), accuracy.format(None)) == ("97.56%", "-")
    error = Measure("error", "Error", higher_is_better=False, is_share=False)
    assert error.best([0.1, 0.3, 0.2]) == 0
    assert error.loss_in_points(2.0, 2.5) == 0.5
    assert error.format(12.3456) == "12.35"
    assert dataclasses.asdict(error) == {
        "name": "error",
        "title": "Error",
        "higher_is_better": False,
        "is_share": False,
    }


# ---- which task ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("told", "shapes", "name"),
    [
        (None, [(None, 10)], "classification"),
        (None, [(None, 1)], "tensors"),
        (None, [(None, 10), (None, 10)], "tensors"),
        (None, [(None, 8, 8, 2)], "tensors"),
        ("segmentation", [(None, 8, 8, 2)], "segmentation"),
        ("tensors", [(None, 10)], "tensors"),
    ],
)
def test_the_task_of_a_model(told, shapes, name):
    assert task_of(Description(task=told), shapes).name == name


@pytest.mark.parametrize(
    ("count", "activation", "loss", "name"),
    [
        (1, "sigmoid", None, "binary_classification"),
        (1, "linear", None, "regression"),
        (1, "linear", "binary_crossentropy", "binary_classification"),
        (1, "tanh", "mean_absolute_error", "regression"),
        (5, "sigmoid", None, "multi_label_classification"),
        (5, "linear", "binary_crossentropy", "multi_label_classification"),
        (5, "linear", None, "classification"),
        (5, "linear", "mean_squared_error", "regression"),
        (5, "softmax", "mean_squared_error", "classification"),
        (5, "softmax", "categorical_crossentropy", "classification"),
    ],
)
def test_the_task_of_an_activation(count, activation, loss, name):
    assert task_of(Description(), [(None, count)], activation, loss).name == name
    assert task_of(Description(task="regression"), [(None, count)], activation, loss).name == "regression"


def test_tasks_have_names():
    assert [task_named(name).name for name in TASKS] == [
        *("tensors", "classification", "segmentation", "detection", "dense_detection"),
        "video_classification",
        *("binary_classification", "multi_label_classification", "regression"),
    ]
    with pytest.raises(InputError, match="there is no task 'clasification'; there are tensors"):
        task_named("clasification")


@pytest.mark.parametrize(
    ("task", "shapes", "names", "message"),
    [
        (Classification(), [(None, 8, 8, 2)], None, "has to classify, with one output"),
        (Classification(), [(None, 2), (None, 2)], None, "has to classify, with one output"),
        (Classification(), [(None, 3)], ("a", "b"), "m.keras has 3 outputs and 2 class names"),
        (BinaryClassification(), [(None, 2)], None, r"has to decide by one output \(batch, 1\)"),
        (MultiLabelClassification(), [(None, 8, 8, 2)], None, "has to give one output"),
        (MultiLabelClassification(), [(None, 3)], ("a",), "m.keras has 3 outputs and 1 class names"),
        (Regression(), [(None, 3), (None, 1)], None, "has to give one output of numbers"),
        (Segmentation(), [(None, 3)], None, "has to segment images, with one output"),
        (Segmentation(), [(None, 8, 8, 3)], ("a", "b"), "m.keras has 3 classes and 2 class names"),
    ],
)
def test_outputs_of_another_task_are_refused(task, shapes, names, message):
    with pytest.raises(InputError, match=message):
        task.check_outputs(shapes, names, "m.keras")
    Task().check_outputs(shapes, names, "m.keras")


def test_the_streaming_mean_iou_is_that_of_all_samples_together():
    rng = np.random.default_rng(0)
    labels, logits = rng.integers(0, 3, (6, 4, 4)), rng.normal(size=(6, 4, 4, 5)).astype("float32")
    (metric,) = Segmentation().metrics(5)
    for start in range(0, 6, 2):
        metric.update_state(labels[start : start + 2], logits[start : start + 2])
    found = float(metric.result())
    assert found == pytest.approx(Segmentation().evaluate({"logits": logits}, labels)["mean_iou"], rel=1e-5)
    oracle = keras.metrics.MeanIoU(5, sparse_y_pred=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle.update_state(labels, logits)
    assert found == pytest.approx(float(oracle.result()), rel=1e-5)
    metric.reset_state()
    assert float(metric.result()) == 0
