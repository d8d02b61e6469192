"""What HVT's figures have in common: their runs on ImageNet."""

import dataclasses

from training.tables import hvt


def table(number, rows):
    """The runs of a figure.

    Args:
        number: int, of the figure.
        rows: iterable of `Row`.
    """
    return dataclasses.replace(hvt.table(number, ("imagenet",), rows), title=f"HVT, Figure {number}")
