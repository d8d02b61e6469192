"""What each compression costs in accuracy, for several models: one table.

    python -m training.compression_study --config=training/configs/compress_study_digits.py --workdir=DIR

Each model of the config is trained, and compressed along each chain from its last epoch on: not from the one
that is best on the test images, for that would be a choice in favour of the original. `DIR/study.json` has a
row for each model and chain, with the `.keras` file to export. A study that was killed goes on.
"""

import pathlib

from absl import flags
from ml_collections import config_flags

from command_line import commands
from hsvit_runtime.errors import InputError
from hsvit_runtime.files import write_json
from training.compress import compress
from training.train import train

FLAGS = flags.FLAGS


def define_flags():
    config_flags.DEFINE_config_file("config", None, "File with models and chains.")
    flags.DEFINE_string("workdir", None, "Folder of the study.", required=True)
    flags.DEFINE_list("models", [], "Models of the config to study; all by default.")
    flags.DEFINE_string("data_dir", None, "Folder with the official files of the image set.")


def main(_):
    if FLAGS.config is None:
        raise InputError("--config is needed: a file such as training/configs/compress_study_digits.py")
    study(FLAGS.config, FLAGS.workdir, FLAGS.models, FLAGS.data_dir)


def study(config, workdir, models=(), data_dir=None):
    """Studies, or goes on studying.

    Args:
        config: `ConfigDict` with the keys of `training/configs/compress_study_digits.py`.
        workdir: folder of the study.
        models: names of models of the config; all by default.
        data_dir: folder of the image set; "digits" needs none.

    Returns:
        list of dicts: for each model and chain, the row of the compression's table and `model`, `chain`,
        `points` of accuracy lost, `file`.

    Raises:
        ValueError: a name or a setting is unknown or does not fit.
        OSError: the images are not there, or the folder cannot be written.
    """
    from hsvit_keras.models.registry import suggest
    from training.run_files import machine

    workdir, rows = pathlib.Path(workdir), []
    for name in models:
        if name not in config.models:
            raise InputError(f"--models: the config has no {name!r}; {suggest(name, list(config.models))}")
    for name in models or config.models:
        folder = workdir / name
        train(recipe_of(config, name), folder, data_dir)
        for chain, steps in config.chains.items():
            output = folder / f"{chain.replace(' ', '_')}.keras"
            original, *_, last = compress(
                folder / "last.keras", output, _compression(config, name, steps), data_dir
            )
            if not any(row["model"] == name for row in rows):
                rows.append(_row(name, "original", original, original, folder / "last.keras"))
            rows.append(_row(name, chain, last, original, output))
            write_json(workdir / "study.json", {"rows": rows, **machine.describe()})
    print(f"\n{table(rows)}\nwrote {workdir / 'study.json'}")
    return rows


def table(rows):
    """The rows in lines; sizes and multiply-adds as shares of the original's."""
    lines = [f"{'model':16} {'':20} {'accuracy':>8} {'points':>7} {'MACs':>6} {'bytes':>6}"]
    for row in rows:
        if row["chain"] == "original":
            original = row
        shares = (row[key] / original[key] for key in ("multiply_adds", "bytes"))
        lines.append(
            f"{row['model']:16} {row['chain']:20} {row['accuracy']:8.4f} {0 - row['points']:+7.2f} "
            + " ".join(f"{share:6.2f}" for share in shares)
        )
    return "\n".join(lines)


def recipe_of(config, name):
    """The recipe that trains one of the models of a study."""
    recipe, entry = config.training.copy_and_resolve_references(), config.models[name]
    recipe.model = name
    recipe.model_arguments = entry.arguments
    recipe.update(entry.get("training", {}))
    return recipe


def _compression(config, name, steps):
    """The config of a chain, in which what `slim` leaves is the model's own."""
    compression = config.compression.copy_and_resolve_references()
    own = {"slim": config.models[name].slim.to_dict()}
    compression.steps = tuple((step, {**own.get(step, {}), **arguments}) for step, arguments in steps)
    return compression


def _row(name, chain, row, original, file):
    points = 100 * (original["accuracy"] - row["accuracy"])
    return {"model": name, "chain": chain, "points": round(points, 4), **row, "file": str(file)}


if __name__ == "__main__":
    define_flags()
    commands.run(main)
