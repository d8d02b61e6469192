"""Vision X-formers, Table 4: convolutional transformers with and without linear attention on Tiny-ImageNet.

A stride of 2 in the first convolution makes 1,024 tokens of 64 x 64 pixels.
"""

import functools

from training.tables import vix


def get_table():
    row = functools.partial(vix.row, "tiny_imagenet")
    le, cc, cv = {"embedding_stride": 2}, {"strides": (2, 1, 1)}, {"embedding_strides": (2, 1, 1)}
    rows = (
        row("LeViT", "levit", "649,480", 213.28, 38.29, 65.23, 14, **le),
        row("LeViP", "levip", "646,920", 77.27, 41.49, 68.39, 4.9, **le),
        row("LeViL", "levil", "530,696", 69.89, 26.52, 51.85, 3.3, **le),
        row("LeViN", "levin", "645,912", 77.26, 38.28, 64.94, 4.3, **le),
        row("CCT", "cct", "930,057", 225.61, 39.05, 65.74, 14.2, **cc),
        row("CCP", "ccp", "931,593", 101.61, 40.11, 66.93, 4.1, **cc),
        row("CCL", "ccl", "815,369", 94.17, 37.24, 62.97, 2.3, **cc),
        row("CCN", "ccn", "930,585", 101.61, 40.80, 67.81, 3.9, **cc),
        row("CvT", "cvt", "1,124,296", 173.34, 40.69, 68.19, 12.3, **cv),
        row("CvP", "cvp", "852,424", 100.3, 45.26, 71.21, 4.4, **cv),
        row("CvL", "cvl", "736,200", 92.86, 33.95, 61.29, 2.3, **cv),
        row("CvN", "cvn", "851,416", 100.3, 45.47, 71.35, 4.0, **cv),
    )
    return vix.table(4, "tiny_imagenet", rows)
