"""Hardware-aware scaling, Figure 6: models scaled for one device, by their costs on others.

The paper's devices are a V100, a TX2 and a Pixel 3. Here the same models cost what can be measured on this
machine: multiply-adds, latency in LiteRT on one thread, and the instructions of a phone's core by emulation.
Accuracies on ImageNet are those that the paper prints, in Tables 2, 5 and 12. So are the latencies beside
the measured ones in the file of numbers.

Numbers are kept in `WORKDIR/costs`; what needs a program that is not installed is left out and said.
"""

from command_line import commands, tables
from hsvit_runtime.errors import FileError, InputError
from training.tables import scaling, scaling_table2, scaling_table5, scaling_table12
from training.tabulating.plan import choose_rows
from training.visualizing import points
from training.visualizing.paper_figure import PaperFigure

# The rows of each series.
_SERIES = {
    "baseline (DeiT)": (scaling_table2, "DeiT-Tiny", "DeiT-Small"),
    "scaled for FLOPs": (scaling_table2, "DeiT-Scaled-Tiny", "DeiT-Scaled-Small"),
    "scaled for V100": (scaling_table12, "V100 Scaling"),
    "scaled for TX2": (scaling_table5, "TX2 Scaling, d 6", "TX2 Scaling, d 10"),
    "scaled for Pixel3": (scaling_table5, "Pixel3 Scaling, e 108", "Pixel3 Scaling, e 142"),
}
COSTS = {
    "multiply-adds in 10$^9$": ("full_multiply_adds", "float32", 1e9),
    "LiteRT, float32, ms": ("litert_latency", "float32", 1),
    "LiteRT, dynamic, ms": ("litert_latency", "dynamic", 1),
    "Cortex-A76, float32, 10$^9$ instructions": ("arm_instructions", "float32", 1e9),
}


def get_figure():
    return PaperFigure(scaling.figure(6, ()), _draw, measure=_measure)


def models():
    """The models: list of dicts of `series`, `row` (`Row`) and `configuration`."""
    return [
        {"series": series, "row": row, "configuration": {"name": row.model, **row.arguments}}
        for series, (module, *names) in _SERIES.items()
        for row in choose_rows(module.get_table(), names)
    ]


def _measure(trained):
    from training.scaling.costs import Cost

    folder, shown, left_out = trained.workdir / "costs", models(), {}
    folder.mkdir(parents=True, exist_ok=True)
    measured = [
        {
            "series": one["series"],
            "name": one["row"].name,
            "model": one["row"].model,
            "top1": one["row"].printed("imagenet")[0],
            "paper": one["row"].others,
            "costs": {},
        }
        for one in shown
    ]
    for title, (name, preset, unit) in COSTS.items():
        cost = Cost(name, folder, preset=preset)
        try:
            for number, (one, known) in enumerate(zip(shown, measured, strict=True), 1):
                known["costs"][title] = cost(one["configuration"]) / unit
                commands.show_progress(f"models, {title}", number, len(shown))
        except (FileError, ImportError, InputError) as error:
            left_out[title] = str(error)
            print(f"left out: {title}: {error}")
            for known in measured:
                known["costs"].pop(title, None)
    print(_as_table(measured))
    return {"models": measured, "left_out": left_out}


def _as_table(measured):
    titles = list(measured[0]["costs"])
    rows = [
        (one["name"], str(one["top1"]), *(f"{one['costs'][title]:.4g}" for title in titles))
        for one in measured
    ]
    return tables.table(("model", "paper's top-1 %", *(title.replace("$", "") for title in titles)), rows)


def _draw(numbers):
    titles = list(numbers["models"][0]["costs"])
    panels = {
        title: [
            {**{key: one[key] for key in ("series", "top1")}, "name": "", "cost": one["costs"][title]}
            for one in numbers["models"]
        ]
        for title in titles
    }
    return points.draw(panels, {title: "" for title in titles}, frontier=True)
