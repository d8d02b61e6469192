"""A number that tells how good or how alike outputs are: its name, its direction, how it is shown."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Measure:
    """A number that tells how good or how alike outputs are.

    Attributes:
        name: str, its key in files, such as "accuracy".
        title: str, how tables and figures call it.
        higher_is_better: bool.
        is_share: bool, whether it is a share from 0 to 1, shown in percent.
    """

    name: str
    title: str
    higher_is_better: bool = True
    is_share: bool = True

    def best(self, values):
        """The position of the best of several values."""
        return int(np.argmax(values) if self.higher_is_better else np.argmin(values))

    def loss_in_points(self, before, after):
        """How much worse `after` is than `before`; in percentage points where it is a share."""
        worse = before - after if self.higher_is_better else after - before
        return 100 * worse if self.is_share else worse

    def format(self, value):
        """The value as text, None as a dash."""
        if value is None:
            return "-"
        return f"{value:.2%}" if self.is_share else f"{value:.4g}"
