"""The standard error of a metric against the textbook's and against chance itself."""

import numpy as np
import pytest

from export.choosing.judging import standard_error
from hsvit_keras.tasks import TASKS

pytestmark = pytest.mark.once


def classified(count, right):
    """Outputs and labels of two classes, of which the first `right` are classified correctly."""
    labels = np.arange(count) % 2
    chosen = np.where(np.arange(count) < right, labels, 1 - labels)
    return {"logits": np.eye(2)[chosen]}, labels


@pytest.mark.parametrize(("count", "right"), [(80, 60), (50, 49), (10, 10)])
def test_without_one_sample_each_it_is_the_error_of_a_mean(count, right):
    share = right / count
    expected = np.sqrt(share * (1 - share) / (count - 1))
    found = standard_error(TASKS["classification"], *classified(count, right), groups=count)
    assert found == pytest.approx(expected, abs=1e-12)


def test_groups_give_nearly_the_same():
    outputs, labels = classified(5000, 4000)
    found = standard_error(TASKS["classification"], outputs, labels)
    assert found == pytest.approx(np.sqrt(0.8 * 0.2 / 5000), rel=0.3)


def test_a_metric_that_is_no_mean_of_samples():
    """As far as the mean IoU of fresh samples of the same kind spreads."""

    def draw(rng):
        masks = rng.integers(0, 3, (60, 4, 4))
        hard = rng.random(60)[:, None, None]  # samples differ, pixels of a sample are alike
        seen = np.where(rng.random(masks.shape) < hard, rng.integers(0, 3, masks.shape), masks)
        return {"logits": np.eye(3)[seen]}, masks

    task = TASKS["segmentation"]
    fresh = [task.evaluate(*draw(np.random.default_rng(seed)))["mean_iou"] for seed in range(200)]
    found = np.mean([standard_error(task, *draw(np.random.default_rng(seed))) for seed in range(5)])
    assert found == pytest.approx(np.std(fresh), rel=0.2)


def test_one_sample_has_none():
    with pytest.raises(ValueError, match="at least two samples; received 1"):
        standard_error(TASKS["classification"], *classified(1, 1))
