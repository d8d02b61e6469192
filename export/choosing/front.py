"""The Pareto front of cost and quality, and which of its members measurements tell apart."""


def front(points, measure):
    """The names that no other one beats: that is at most as costly and at least as good, and not the same.

    Args:
        points: dict from a name to (cost, value of the measure).
        measure: `hsvit_runtime.measure.Measure`.

    Returns:
        list of names, the least costly first.
    """
    return sorted(
        (
            name
            for name in points
            if not any(_beats(other, points[name], measure) for other in points.values())
        ),
        key=lambda name: points[name][0],
    )


def _beats(other, point, measure):
    loss = measure.loss_in_points(other[1], point[1])
    return other[0] <= point[0] and loss >= 0 and (other[0] < point[0] or loss > 0)


def told_apart(names, is_better, is_costlier):
    """The members of a front that are worth their cost by more than chance.

    Args:
        names: list of names, the front, the least costly first.
        is_better: function (name, other) that tells whether `name` is measurably better than `other`.
        is_costlier: function likewise.

    Returns:
        list of names: each is measurably better than the one before it, and measurably costlier.
    """
    kept = []
    for name in names:
        if kept and not is_better(name, kept[-1]):
            continue
        while kept and not is_costlier(name, kept[-1]):
            kept.pop()
        kept.append(name)
    return kept
