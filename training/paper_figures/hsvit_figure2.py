"""HSViT, Figure 2: number of parameters against top-1 accuracy on Tiny-ImageNet, of the models of Table 3."""

import dataclasses

from command_line import plots
from training.tables import hsvit_table3
from training.tabulating.results import count_of
from training.visualizing.paper_figure import PaperFigure

_DATA = "tiny_imagenet"
_FAMILIES = (
    "ResNet",
    "EfficientNet",
    "MobileNetV2",
    "ViT",
    "MobileViT",
    "EfficientFormer",
    "SwiftFormer",
    "CvT",
    "HSViT",
)


def get_figure():
    table = hsvit_table3.get_table()
    rows = (
        dataclasses.replace(
            row,
            accuracy={_DATA: row.accuracy[_DATA]},
            training_on={data: value for data, value in row.training_on.items() if data == _DATA},
        )
        for row in table.rows
    )
    table = dataclasses.replace(
        table, title="HSViT, Figure 2", rows=tuple(rows), recipes={_DATA: table.recipes[_DATA]}
    )
    return PaperFigure(table, measure=lambda trained: {"paper": _printed(table)}, draw=_draw)


def _printed(table):
    return [
        {"row": row.name, "parameters": count_of(row.parameters), "top1": row.accuracy[_DATA]}
        for row in table.rows
    ]


def _draw(numbers):
    """A panel with the paper's points, and one for each data set that was trained on."""
    panels = {f"the paper's, {_DATA}": numbers["paper"]}
    for row in numbers["rows"]:
        if row["measured"]:
            point = {
                "row": row["row"],
                "parameters": row["measured"]["parameters"],
                "top1": row["measured"]["top1"]["mean"],
            }
            panels.setdefault(f"here, {row['data']}", []).append(point)
    figure = plots.new_figure((4.6 * len(panels), 3.6))
    looks = plots.looks(_FAMILIES)
    for axes, (title, points) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        for family, (colour, marker) in looks.items():
            members = [point for point in points if point["row"].split("-")[0] == family]
            members.sort(key=lambda point: point["parameters"])
            axes.plot(
                [point["parameters"] / 1e6 for point in members],
                [point["top1"] for point in members],
                marker=marker, color=colour, markersize=5, label=family if members else None,
            )  # fmt: skip
        axes.set_title(title)
        axes.set_xscale("log")
        axes.set_xlabel("parameters in millions")
        axes.set_ylabel("top-1 in %")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    return figure
