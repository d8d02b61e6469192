"""Pictures of a sweep: how latency grows with nodes, and how accuracy falls with losses."""

from hsvit_runtime.files import replacing

_COLOURS = ("#0b5fb0", "#b35900", "#1a7f4b", "#8250df", "#a40e26")


def draw_latency(rows, path):
    """Latency against the number of nodes, a line for each network, without losses or with the fewest."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.subplots()
    loss, deadline = min(row["loss"] for row in rows), max(row["deadline_ms"] for row in rows)
    for colour, name in zip(_COLOURS, dict.fromkeys(row["network"] for row in rows), strict=False):
        chosen = _chosen(rows, network=name, loss=loss, deadline_ms=deadline)
        for key, style in (("p50", "-o"), ("p99", "--o")):
            places = [row["nodes"] for row in chosen], [row[key] for row in chosen]
            axes.plot(*places, style, color=colour, markersize=4, label=f"{name}, {key}")
    nodes = sorted({row["nodes"] for row in rows})
    axes.set_xscale("log", base=2)
    axes.set_xticks(nodes, [str(number) for number in nodes])
    axes.set_yscale("log")
    axes.set_xlabel("nodes")
    axes.set_ylabel(f"latency, ms (deadline {deadline:g} ms, {loss:.0%} lost)")
    _finish(figure, axes, path)


def draw_accuracy(rows, labels, path):
    """Accuracy against the share of lost messages: a picture for each deadline, a colour for each number of
    nodes, a dash for each model; over the first network.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    network, deadlines = rows[0]["network"], sorted({row["deadline_ms"] for row in rows})
    figure = Figure(figsize=(2.2 + 2.6 * len(deadlines), 3.8), layout="constrained")
    panels = figure.subplots(1, len(deadlines), sharey=True, squeeze=False)[0]
    for axes, deadline in zip(panels, deadlines, strict=True):
        for colour, nodes in zip(_COLOURS, sorted({row["nodes"] for row in rows}), strict=False):
            chosen = _chosen(rows, network=network, nodes=nodes, deadline_ms=deadline)
            for model, (label, style) in enumerate(zip(labels, ("-o", "--s", ":^", "-.v"), strict=False)):
                places = [row["loss"] for row in chosen], [row["accuracies"][model] for row in chosen]
                axes.plot(*places, style, color=colour, markersize=3.5, label=f"{nodes} node(s){label}")
        axes.set_title(f"deadline {deadline:g} ms", fontsize=10)
        axes.xaxis.set_major_formatter(PercentFormatter(1))
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.set_xlabel("messages lost")
    panels[0].set_ylabel(f"accuracy over {network}")
    _finish(figure, panels[0], path, panels[1:])


def _chosen(rows, **values):
    return [row for row in rows if all(row[key] == value for key, value in values.items())]


def _finish(figure, axes, path, others=()):
    for each in (axes, *others):
        each.grid(alpha=0.3)
        each.spines[["top", "right"]].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=8)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120)
