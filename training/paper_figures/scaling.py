"""What the figures of hardware-aware scaling have in common: series of models, and costs that are counted."""

from training.tabulating.results import count_of

# The series of the paper's models, which their names start with.
SERIES = ("DeiT-Scaled", "DeiT", "PiT-Scaled", "PiT")


def series(name):
    """DeiT, PiT or their scaled forms; other models are a series of their own."""
    return next((start for start in SERIES if name.startswith(start)), "other ViTs")


def printed(rows):
    """The points that the paper prints.

    Args:
        rows: iterable of `Row` with the accuracy on ImageNet.

    Returns:
        list of dicts of `training.visualizing.points.draw`, whose costs are 10^9 multiply-adds.
    """
    return [
        {
            "series": series(row.name),
            "name": row.name,
            "cost": count_of(row.multiply_adds) / 1e9,
            "top1": row.printed("imagenet")[0],
        }
        for row in rows
        if row.multiply_adds and row.printed("imagenet")[0] is not None
    ]


def billions(row):
    """Multiply-adds of a measured row in 10^9."""
    return row["measured"]["multiply_adds"] / 1e9


def flops(factors):
    """Multiply-adds of a DeiT as papers count, all tokens of all blocks; HVT's equation 7 and both ends.

    Args:
        factors: dict of `training.scaling.factors.DEIT`.
    """
    dim, ratio = factors["num_heads"] * factors["head_dim"], factors["mlp_ratio"]
    patches = (factors["image_size"] // factors["patch_size"]) ** 2
    tokens = patches + 1
    block = (4 + 2 * ratio) * tokens * dim**2 + 2 * tokens**2 * dim
    return factors["depth"] * block + patches * dim * 3 * factors["patch_size"] ** 2 + 1000 * dim
