"""The loss of detection against its formulas in NumPy, and the assignment against all permutations."""

import itertools

import keras
import numpy as np
import pytest

from hsvit_keras.tasks.boxes import corners_of, generalized_iou, iou
from hsvit_keras.tasks.matching import matched
from hsvit_keras.tasks.set_loss import SetLoss
from hsvit_runtime import box_labels


def array(tensor):
    return keras.ops.convert_to_numpy(tensor)


def random_boxes(rng, *shape):
    """Boxes as centers and sides, within the image."""
    sides = rng.uniform(0.05, 0.5, (*shape, 2))
    return np.concatenate([rng.uniform(sides / 2, 1 - sides / 2), sides], -1).astype("float32")


def overlaps(one, other):
    """(IoU, generalized IoU) of two boxes by their definitions, one number at a time."""
    (x0, y0, x1, y1), (u0, v0, u1, v1) = (
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2) for x, y, w, h in (map(float, one), map(float, other))
    )
    common = max(0, min(x1, u1) - max(x0, u0)) * max(0, min(y1, v1) - max(y0, v0))
    union = (x1 - x0) * (y1 - y0) + (u1 - u0) * (v1 - v0) - common
    hull = (max(x1, u1) - min(x0, u0)) * (max(y1, v1) - min(y0, v0))
    return common / union, common / union - (hull - union) / hull


def test_iou_and_generalized_iou_are_those_of_their_definitions():
    rng = np.random.default_rng(0)
    one, other = random_boxes(rng, 40), random_boxes(rng, 40)
    expected = np.array([overlaps(*pair) for pair in zip(one, other, strict=True)])
    assert (expected[:, 0] > 0).sum() > 5 and (expected[:, 1] < 0).sum() > 5
    corners = corners_of(one), corners_of(other)
    np.testing.assert_allclose(array(iou(*corners)), expected[:, 0], atol=1e-6)
    np.testing.assert_allclose(array(generalized_iou(*corners)), expected[:, 1], atol=1e-6)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_generalized_iou_is_that_of_keras_cv():
    losses = pytest.importorskip("keras_cv").losses
    rng = np.random.default_rng(1)
    one, other = (np.array(corners_of(random_boxes(rng, 5, 1))) for _ in range(2))
    loss = losses.GIoULoss(bounding_box_format="rel_xyxy")
    expected = [float(loss(*pair)) for pair in zip(one, other, strict=True)]
    np.testing.assert_allclose(1 - array(generalized_iou(one, other))[:, 0], expected, atol=1e-5)


def test_boxes_without_area_overlap_nothing():
    point = np.array([0.5, 0.5, 0.5, 0.5], "float32")
    assert array(iou(point, point)) == 0
    assert array(generalized_iou(point, np.array([0.0, 0.0, 1.0, 1.0], "float32"))) == 0


def test_boxes_are_assigned_to_what_costs_least_in_all():
    rng = np.random.default_rng(2)
    costs = rng.normal(size=(3, 5, 3)).astype("float32")
    is_box = np.array([[True, True, True], [True, False, True], [False, False, False]])
    found = array(matched(costs, is_box))
    for of_image, chosen, boxes in zip(costs, found, is_box, strict=True):
        places = np.flatnonzero(boxes)
        least = min(
            sum(of_image[query, place] for query, place in zip(queries, places, strict=True))
            for queries in itertools.permutations(range(5), len(places))
        )
        assert of_image[chosen[places], places].sum() == pytest.approx(least, abs=1e-6)
        assert len(set(chosen[places])) == len(places)
        assert (chosen[~boxes] == -1).all()


def test_boxes_that_no_prediction_is_left_for_are_assigned_to_none():
    costs = np.array([[[1.0, 0.0, 2.0]]], "float32")
    assert array(matched(costs, np.ones((1, 3), bool))).tolist() == [[-1, 0, -1]]


def losses_by_their_formulas(labels, logits, boxes, assigned, count):
    """Focal loss, L1 and 1 - generalized IoU of one decoder layer, summed over a batch, for each box."""
    focal = distance = apart = 0.0
    for of_image, scores, found, queries in zip(labels, logits, boxes, assigned, strict=True):
        targets = np.zeros(scores.shape)
        for label, query in zip(of_image, queries, strict=True):
            if query >= 0:
                targets[query, int(label[0])] = 1
                distance += np.abs(found[query] - label[1:5]).sum()
                apart += 1 - overlaps(found[query], label[1:5])[1]
        chances = 1 / (1 + np.exp(-scores.astype("float64")))
        right = np.where(targets == 1, chances, 1 - chances)
        focal += (np.where(targets == 1, 0.25, 0.75) * (1 - right) ** 2 * -np.log(right)).sum()
    return np.array([focal, distance, apart]) / count


def scene():
    """Labels of two images, one with a crowd and padding, one without boxes; predictions of two layers."""
    rng = np.random.default_rng(3)
    boxes = random_boxes(rng, 4)
    rows = np.concatenate([[[2], [0], [1], [2]], boxes, [[0], [0], [1], [0]]], 1)
    labels = box_labels.padded([rows, np.zeros((0, 6)), rows[:1]])
    logits = rng.normal(0, 2, (3, 2, 6, 3)).astype("float32")
    found = random_boxes(rng, 3, 2, 6)
    return labels, logits, found


@pytest.mark.slow_on_jax
def test_the_loss_is_the_sum_of_its_parts_over_all_decoder_layers():
    labels, logits, boxes = scene()
    loss, expected = SetLoss(), np.zeros(3)
    for layer in range(2):
        assigned = best_assignment(labels, logits[:, layer], boxes[:, layer])
        expected += losses_by_their_formulas(labels, logits[:, layer], boxes[:, layer], assigned, 4)
    predicted = np.concatenate([logits, boxes], -1)
    parts = {name: array(part) for name, part in loss.parts(labels, predicted).items()}
    assert {part.shape for part in parts.values()} == {(2,)}
    np.testing.assert_allclose([parts[name].sum() for name in ("class", "box", "iou")], expected, rtol=2e-5)
    assert float(loss(labels, predicted)) == pytest.approx(expected @ [2, 5, 2], rel=2e-5)


def best_assignment(labels, logits, boxes):
    """The query of each box, by the costs of the paper and all permutations; -1 for crowds and padding."""
    found = np.full(labels.shape[:2], -1)
    for index, of_image in enumerate(labels):
        real = [place for place, label in enumerate(of_image) if label[0] >= 0 and not label[5]]
        chances = 1 / (1 + np.exp(-logits[index].astype("float64")))

        def cost(query, place, index=index, chances=chances):
            label = labels[index, place]
            chance = chances[query, int(label[0])]
            of_class = 0.25 * (1 - chance) ** 2 * -np.log(chance) - 0.75 * chance**2 * -np.log(1 - chance)
            box = boxes[index, query]
            return 2 * of_class + 5 * np.abs(box - label[1:5]).sum() - 2 * overlaps(box, label[1:5])[1]

        best = min(
            itertools.permutations(range(len(chances)), len(real)),
            key=lambda queries, real=real, cost=cost: sum(map(cost, queries, real)),
        )
        found[index, real] = best
    return found


@pytest.mark.slow_on_jax
def test_without_boxes_all_scores_are_wrong_and_no_box_is():
    labels = box_labels.padded([np.zeros((0, 6))])
    logits, boxes = np.full((1, 1, 5, 2), -3.0), np.full((1, 1, 5, 4), 0.5)
    parts = SetLoss().parts(*(x.astype("float32") for x in (labels, np.concatenate([logits, boxes], -1))))
    chance = 1 / (1 + np.exp(3.0))
    assert array(parts["class"])[0] == pytest.approx(10 * 0.75 * chance**2 * -np.log(1 - chance), rel=1e-5)
    assert array(parts["box"]) == array(parts["iou"]) == 0


@pytest.mark.slow_on_jax
def test_the_loss_in_half_precision_is_finite_and_has_a_config():
    labels, logits, boxes = scene()
    predicted = keras.ops.cast(np.concatenate([60 * logits, boxes], -1), "bfloat16")
    assert np.isfinite(float(SetLoss()(labels, predicted)))
    loss = SetLoss(class_weight=1.0, gamma=1.5)
    assert SetLoss.from_config(loss.get_config()).get_config() == loss.get_config()


@pytest.mark.slow_on_jax
def test_a_step_of_training_follows_the_slope_of_the_loss():
    """The assignment, a step function, has no part in the gradient; compiled, it is made on the host."""
    labels, logits, boxes = scene()
    start = np.concatenate([logits, boxes], -1)[:, :1]
    inputs = keras.Input((1,), batch_size=3)
    dense = keras.layers.Dense(start[0].size, kernel_initializer="zeros")
    # One bias for all images: what they predict differs by a constant.
    outputs = keras.layers.Reshape(start.shape[1:])(dense(inputs)) + keras.ops.convert_to_tensor(start)
    model = keras.Model(inputs, outputs)
    on_tensorflow = keras.backend.backend() == "tensorflow"
    model.compile(keras.optimizers.SGD(1.0), SetLoss(), jit_compile=not on_tensorflow)
    model.train_on_batch(np.zeros((3, 1), "float32"), labels)
    slope = -array(dense.bias).reshape(start.shape[1:])
    rng, step = np.random.default_rng(4), 1e-4
    for _ in range(5):
        direction = rng.normal(size=slope.shape).astype("float32")
        direction /= np.linalg.norm(direction)
        high, low = (float(SetLoss()(labels, start + sign * step * direction)) for sign in (1, -1))
        assert (high - low) / (2 * step) == pytest.approx((slope * direction).sum(), rel=0.02, abs=0.05)
