"""Vision X-formers, Table 3: convolutional transformers with and without linear attention on CIFAR-10."""

import functools

from training.tables import vix


def get_table():
    row = functools.partial(vix.row, "cifar10")
    rows = (
        row("LeViT", "levit", "624,970", 213.15, 77.06, 98.46, 13.9),
        row("LeViP", "levip", "662,410", 77.14, 79.50, 98.91, 4.9),
        row("LeViL", "levil", "506,186", 69.69, 63.17, 96.13, 2.3),
        row("LeViN", "levin", "621,402", 77.13, 77.81, 98.61, 4.3),
        row("CCT", "cct", "905,547", 225.47, 82.23, 99.04, 14.7),
        row("CCP", "ccp", "907,083", 101.48, 82.48, 99.06, 4.3),
        row("CCL", "ccl", "790,859", 94.04, 80.05, 98.92, 3.5),
        row("CCN", "ccn", "906,075", 101.48, 83.36, 99.07, 4.2),
        row("CvT", "cvt", "1,099,786", 173.21, 79.93, 99.02, 12.8),
        row("CvP", "cvp", "827,914", 100.17, 83.19, 99.20, 4.8),
        row("CvL", "cvl", "711,690", 92.73, 72.58, 97.81, 2.6),
        row("CvN", "cvn", "826,906", 100.17, 83.26, 99.14, 4.3),
    )
    return vix.table(3, "cifar10", rows)
