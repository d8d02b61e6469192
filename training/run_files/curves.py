"""The curves of a training run as a picture."""

from command_line import plots


def draw(rows, metric, path, validation="validation"):
    """Draws loss and metric in training and validation over the epochs.

    Args:
        rows: list of dicts, the rows of `metrics.jsonl`.
        metric: `hsvit_keras.tasks.Measure`.
        path: path of the .png to write.
        validation: str, the part of the `val_` values.

    Raises:
        OSError: the file cannot be written.
    """
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    epochs = [row["epoch"] for row in rows]
    panels = {"loss": "Loss", metric.name: metric.title}
    with plots.style():
        figure = plots.new_figure((10, 4))
        for axes, (name, title) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
            lines = (("train", name, "-"), (validation, f"val_{name}", "--"))
            for (label, key, dashes), colour in zip(lines, plots.SERIES, strict=False):
                if key not in rows[0]:  # of metrics that are not measured in training
                    continue
                marker = "." if len(rows) < 3 else ""
                axes.plot(
                    epochs, [row[key] for row in rows], dashes, color=colour, marker=marker, label=label
                )
            axes.set_xlabel("epoch")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.set_title(title)
            axes.legend()
            if name != "loss" and metric.is_share:
                axes.yaxis.set_major_formatter(PercentFormatter(1))
        plots.save(figure, path)
