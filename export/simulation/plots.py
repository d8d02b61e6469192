"""Figures of a sweep: how latency grows with nodes, and how accuracy falls with losses."""

from command_line import plots

_DASHES = ("-", "--", ":", "-.")  # one for each model, or for each percentile


def draw_latency(rows, path):
    """Latency against the number of nodes, a colour for each network.

    Args:
        rows: list of dicts of `sweep.sweep`; of them those with the smallest loss and the longest deadline.
        path: path of the PNG file.
    """
    loss, deadline = min(row["loss"] for row in rows), max(row["deadline_ms"] for row in rows)
    nodes = sorted({row["nodes"] for row in rows})
    with plots.style():
        figure = plots.new_figure((6.4, 4))
        axes = figure.subplots()
        for name, (colour, marker) in plots.looks(row["network"] for row in rows).items():
            chosen = _chosen(rows, network=name, loss=loss, deadline_ms=deadline)
            for key, dash in zip(("p50", "p99"), _DASHES, strict=False):
                points = [row["nodes"] for row in chosen], [row[key] for row in chosen]
                axes.plot(*points, dash, color=colour, marker=marker, markersize=4, label=f"{name}, {key}")
        axes.set_xscale("log", base=2)
        axes.set_xticks(nodes, [str(number) for number in nodes])
        axes.set_yscale("log")
        axes.set_xlabel("nodes")
        axes.set_ylabel(f"latency, ms (deadline {deadline:g} ms, {loss:.0%} lost)")
        _save(figure, axes, path)


def draw_accuracy(rows, labels, path):
    """Accuracy against the share of lost messages over the first network.

    Each deadline has its own axes, each number of nodes a colour, each model its dashes.

    Args:
        rows: list of dicts of `sweep.sweep`.
        labels: list of str, put behind the name of each model's lines.
        path: path of the PNG file.
    """
    from matplotlib.ticker import PercentFormatter

    network, deadlines = rows[0]["network"], sorted({row["deadline_ms"] for row in rows})
    with plots.style():
        figure = plots.new_figure((2.2 + 2.6 * len(deadlines), 3.8))
        panels = figure.subplots(1, len(deadlines), sharey=True, squeeze=False)[0]
        for axes, deadline in zip(panels, deadlines, strict=True):
            for nodes, (colour, marker) in plots.looks(sorted({row["nodes"] for row in rows})).items():
                chosen = _chosen(rows, network=network, nodes=nodes, deadline_ms=deadline)
                for model, label in enumerate(labels):
                    axes.plot(
                        [row["loss"] for row in chosen],
                        [row["accuracies"][model] for row in chosen],
                        _DASHES[model % len(_DASHES)],
                        color=colour,
                        marker=marker,
                        markersize=3.5,
                        label=f"{nodes} node(s){label}",
                    )
            axes.set_title(f"deadline {deadline:g} ms")
            axes.xaxis.set_major_formatter(PercentFormatter(1))
            axes.yaxis.set_major_formatter(PercentFormatter(1))
            axes.set_xlabel("messages lost")
        panels[0].set_ylabel(f"accuracy over {network}")
        _save(figure, panels[0], path)


def _chosen(rows, **values):
    return [row for row in rows if all(row[key] == value for key, value in values.items())]


def _save(figure, axes, path):
    """Adds the legend of one of the axes, and writes the file."""
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    plots.save(figure, path)
