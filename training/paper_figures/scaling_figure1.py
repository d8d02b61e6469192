"""Hardware-aware scaling, Figure 1: scaled models beside other vision transformers.

The paper's points are those that Tables 2 and 6 print; of other vision transformers, those that DHVT's
supplement prints in Table 9 from their papers.
"""

import dataclasses

from training.paper_figures import scaling
from training.tables import dhvt_table9, scaling_table2, scaling_table6
from training.visualizing import points
from training.visualizing.paper_figure import PaperFigure

_NO_TRANSFORMERS = ("RegNet", "ConvNeXt")
_OWN = ("DeiT", "PiT", "DHVT")


def get_figure():
    table = dataclasses.replace(scaling_table2.get_table(), title="Hardware-aware scaling, Figure 1")
    pit = (row for row in scaling_table6.get_table().rows if row.model)
    others = (
        row for row in dhvt_table9.get_table().rows if not row.name.startswith((*_NO_TRANSFORMERS, *_OWN))
    )
    paper = scaling.printed((*table.rows, *pit, *others))
    return PaperFigure(table, _draw, measure=lambda trained: {"paper": paper})


def _draw(numbers):
    here = points.measured(numbers, scaling.billions, scaling.series)
    paper = [{**point, "name": ""} for point in numbers["paper"]]
    return points.draw(
        {"the papers', imagenet": paper, **here}, "10$^9$ multiply-adds", joined=scaling.SERIES
    )
