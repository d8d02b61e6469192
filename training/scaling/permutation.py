"""Random permutation: models of the same cost near a scaled one, with all factors changed a little."""

from training.scaling.greedy import first_reaching

_DRAWS = 100  # for each candidate: most draws do not fit, are known already, or miss the cost


def permute(family, factors, cost, target, count, rng, *, span=0.25, tolerance=0.02):
    """Draws models around a scaled model.

    All factors but one are drawn at random near their values; that one is set to what brings the cost
    closest to the target.

    Args:
        family: `Family`.
        factors: dict, the scaled model.
        cost: function from factors to a number.
        target: number, the cost that all have to have.
        count: int, how many; the paper takes 24.
        rng: `numpy.random.Generator`.
        span: float, how far a value may be from the scaled model's, as a share of it. The values next to
            it may always be taken.
        tolerance: float, by which share the cost may be off.

    Returns:
        list of dicts, different from each other and from `factors`; fewer where there are not so many.
    """
    found, seen = [], [factors]
    near = {name: _near(family.values[name], factors[name], span) for name in family.values}
    for _ in range(_DRAWS * count):
        fitted = rng.choice(list(near))
        drawn = {**factors, **{name: near[name][rng.integers(len(near[name]))] for name in near}}
        line = [one for one in family.line(drawn, fitted) if one[fitted] in near[fitted]]
        if all(one in seen for one in line):
            continue
        seen += (one := _closest(line, cost, target), *(() if one in line else line))
        if one not in found and one != factors and abs(cost(one) / target - 1) <= tolerance:
            found.append(one)
        if len(found) == count:
            break
    return found


def _near(values, value, span):
    """The values within the span, and the neighbours, in their order."""
    place = min(range(len(values)), key=lambda i: abs(values[i] - value))
    return [one for i, one in enumerate(values) if abs(one - value) <= span * value or abs(i - place) <= 1]


def _closest(line, cost, target):
    place = first_reaching(line, cost, target)
    if place is None:
        return line[-1]
    return min(line[max(place - 1, 0) : place + 1], key=lambda one: abs(cost(one) - target))
