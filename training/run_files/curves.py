"""The curves of a training run as a picture."""

from hsvit_runtime.files import replacing


def draw(rows, path):
    """Draws loss and accuracy of training and test over the epochs.

    Args:
        rows: list of dicts, the rows of `metrics.jsonl`.
        path: path of the .png to write.

    Raises:
        OSError: the file cannot be written.
    """
    from matplotlib.figure import Figure

    epochs = [row["epoch"] for row in rows]
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2), ("loss", "accuracy"), strict=True):
        for label, key, style in (("train", name, "--"), ("test", f"val_{name}", "-")):
            axes.plot(
                epochs, [row[key] for row in rows], style, marker="." if len(rows) < 3 else "", label=label
            )
        axes.set_xlabel("epoch")
        axes.set_title(name)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120)
