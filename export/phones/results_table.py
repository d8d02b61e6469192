"""The table of all phones' results, in Markdown."""

import pathlib
import re

from export.benchmarking.table import ratio_text
from export.phones import results
from hsvit_runtime import files, outputs
from hsvit_runtime.measure import Measure

NAME = "table.md"

_HEADING = "# Phones\n"
_PAGE = outputs.Kind("table of phones", ".md", lambda path: path.read_bytes().startswith(_HEADING.encode()))
_COLUMNS = ("phone", "system", "runtime", "asked for", "threads", "artifact", "p50 ms", "ratio", "outputs")


def write(folder):
    """Writes the table of a folder's results; returns how many there are.

    Args:
        folder: path with a folder `results`.

    Raises:
        InputError: a result is damaged.
        OSError: the table cannot be written.
    """
    path = pathlib.Path(folder, NAME)
    outputs.check(path, _PAGE)
    found = results.read_all(folder)
    with files.replacing(path) as temporary:
        temporary.write_text(table(found), encoding="utf-8")
    return len(found)


def table(found):
    """The page of results.

    Args:
        found: list of dicts, see `results.read_all`.

    Returns:
        str, Markdown.
    """
    lines = [
        _HEADING,
        "`python -m export.phone_table table` writes this page from the files in `results/`; "
        "[docs/phone.md](../phone.md) says how to measure.",
        "Ratios are the artifact's median latency over the original's, with their 95 % interval.",
        "",
    ]
    if not found:
        return "\n".join([*lines, "No phone has been measured yet."]) + "\n"
    lines += [_row(_COLUMNS), _row(["---"] * len(_COLUMNS))]
    for number, result in enumerate(found, start=1):
        lines += [_row(cells) for cells in _rows(result["report"], number)]
    lines += ["", *(_note(result, number) for number, result in enumerate(found, start=1))]
    return "\n".join(lines) + "\n"


def _rows(report, number):
    device, pairs = report["device"], {pair["mobile"]: pair for pair in report["pairs"]}
    system = _joined(device["os"]["name"], device["os"]["version"])
    first = [f"{_text(device['name'])} [{number}](#{number})", _text(system)]
    for model in report["models"]:
        pair = pairs.get(model["name"])
        right = _is_right(model, report)
        yield [
            *first,
            _text(_joined(model["runtime"]["name"], model["runtime"]["version"])),
            _text(_accelerator(model["accelerator"])),
            model["threads"]["requested"],
            _text(model["name"]),
            _number(model["latency_ms"]["p50"]) if right else None,
            (ratio_text(pair["ratio"]) if right else None) if pair else "original",
            _agreement(pair, report["task"]) if right else "**wrong**",
        ]
        first = ["", ""]


def _is_right(model, report):
    """False where outputs are known to be wrong: a latency of those means nothing."""
    reference = model.get("reference")
    finite = not any(
        entry["code"] == "not_finite" and entry["model"] == model["name"] for entry in report["warnings"]
    )
    return finite and (reference is None or reference["right"])


def _accelerator(accelerator):
    asked, used = accelerator["requested"], accelerator["used"]
    return f"{asked}, ran on {used}" if asked and used and asked != used else asked or used


def _agreement(pair, task):
    if pair is None or pair["agreement"] is None or task["agreement"] is None:
        return None
    measure = Measure(**task["agreement"])
    return measure.format(pair["agreement"].get(measure.name))


def _number(value):
    return None if value is None else f"{value:.3f}"


def _note(result, number):
    """A paragraph on what a result's numbers depend on."""
    report = result["report"]
    device = report["device"]
    cpu = ", ".join(part for part in (device["cpu"]["name"], device["cpu"]["architecture"]) if part)
    said = [f"{device['name']}, {cpu or 'unknown CPU'}", results.day(report)]
    said.append(f"measured by {_joined(report['tool']['name'], report['tool']['version'])}")
    if result["contributor"]:
        said.append(f"from {result['contributor']}")
    if result["room_celsius"] is not None:
        said.append(f"room of {result['room_celsius']:g} °C")
    if result["case"] is not None:
        said.append("in a case" if result["case"] else "without a case")
    if result["phone_tests"]:
        said.append(f"tests on the phone {result['phone_tests']}")
    more = [result["notes"], *(entry["message"] for entry in report["warnings"])]
    sentences = [", ".join(said), *(text for text in more if text.strip())]
    text = ". ".join(_text(sentence).rstrip(".") for sentence in sentences)
    return f'{number}. <a id="{number}"></a>{text}.'


def _joined(*parts):
    return " ".join(str(part) for part in parts if part)


def _row(cells):
    return "| " + " | ".join("-" if cell is None else str(cell) for cell in cells) + " |"


def _text(value):
    """Text of others as one line that breaks no table and brings neither HTML nor links; None stays so."""
    if value is None:
        return None
    line = " ".join(value.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\|\[\]`*_])", r"\\\1", line)
