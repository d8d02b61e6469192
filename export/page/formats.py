"""Numbers as the page shows them; None stays None, which the page shows as a dash."""

import math

from hsvit_runtime.measure import Measure


def measure_of(task, kind):
    """The `Measure` of a report's task.

    Args:
        task: dict, the `task` block of a benchmark report or of a run's summary.
        kind: str, "metric" or "agreement".

    Returns:
        `Measure`, or None where the task has none.
    """
    content = (task or {}).get(kind)
    return None if content is None else Measure(**content)


def measured(measure, values):
    """The value of a measure among others, as text; None where either is missing."""
    value = None if measure is None or values is None else values.get(measure.name)
    if value is None:
        return None
    return percent(value) if measure.is_share else number(value, ".4g")


def number(value, form, unit=""):
    return None if value is None else f"{value:{form}}{unit}"


def percent(share):
    return number(share and 100 * share, ".1f", " %")


def size(count):
    if count is None:
        return None
    unit, scale = next(((u, s) for u, s in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)) if count >= s), ("B", 1))
    return f"{count / scale:.3g} {unit}" if count < 1000 * scale else f"{count / scale:.0f} {unit}"


def share(part, whole):
    return None if part is None or not whole else f"{part / whole:.0%}".replace("%", " %")


def milliseconds(value):
    """A latency with three digits that count, all of them before the point if there are more."""
    if not value:
        return value if value is None else "0 ms"
    rounded = float(f"{value:.3g}") if value < 1000 else value
    return f"{rounded:,.{max(0, 2 - math.floor(math.log10(rounded)))}f} ms"


def ratio(value):
    interval = "" if value["low"] is None else f" [{value['low']:.3f}, {value['high']:.3f}]"
    of = " (of means)" if value["of"] == "mean" else ""
    return f"{value['value']:.3f}{interval}{of}"
