"""A metric of one model, or of the agreement of two: its name, which direction is better, how it is shown."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Measure:
    """A metric of a model's outputs, or of the agreement of two models' outputs.

    Attributes:
        name: str, its key in files, such as "accuracy".
        title: str, its name in tables and figures.
        higher_is_better: bool.
        is_share: bool, whether it is a share from 0 to 1, shown in percent.
    """

    name: str
    title: str
    higher_is_better: bool = True
    is_share: bool = True

    def best(self, values):
        """The index of the best of several values."""
        return int(np.argmax(values) if self.higher_is_better else np.argmin(values))

    def loss_in_points(self, before, after):
        """How much worse `after` is than `before`, in percentage points if the metric is a share."""
        worse = before - after if self.higher_is_better else after - before
        return 100 * worse if self.is_share else worse

    def format(self, value):
        """A value as text; a dash for None."""
        if value is None:
            return "-"
        return f"{value:.2%}" if self.is_share else f"{value:.4g}"
