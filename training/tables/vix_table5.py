"""Vision X-formers, Table 5: X-formers in place of PiT's attention on CIFAR-10."""

import functools

from training.tables import vix


def get_table():
    row = functools.partial(vix.row, "cifar10")
    rows = (
        row("PiT", "pix_pit", "897,034", 129.74, 63.49, 96.95, 14.7),
        row("PiN", "pix_pin", "897,562", 65.81, 69.41, 97.68, 5.7),
        row("PiP", "pix_pip", "898,570", 64.09, 65.83, 97.28, 5.2),
        row("Hybrid PiT", "hybrid_pix_pit", "989,770", 131.80, 73.34, 98.11, 14.8),
        row("Hybrid PiN", "hybrid_pix_pin", "990,298", 67.87, 74.00, 98.03, 5.7),
        row("Hybrid PiP", "hybrid_pix_pip", "991,306", 66.15, 71.37, 97.88, 5.2),
    )
    return vix.table(5, "cifar10", rows)
