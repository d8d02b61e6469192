"""Searches the most accurate shape of a family for each of several costs on a target.

    python -m training.scaling.search --config=training/configs/scaling_digits.py --workdir=DIR

Any value of the config can be changed, as in `--config.training.epochs=4`. The folder gets `search.json`
(every step and candidate), `frontier.png`, `chosen.py` (the variants found, for `create_model`),
`trials.jsonl`, `costs.jsonl`, the artifacts that were measured and the runs of all trials. A search that was
killed goes on when it is started again.
"""

import dataclasses
import pathlib
import pprint
import sys

from absl import flags
from ml_collections import config_flags

from command_line import commands
from hsvit_runtime import files
from hsvit_runtime.errors import InputError
from training.scaling import costs, greedy, plots
from training.scaling.factors import FAMILIES, describe
from training.scaling.permutation import permute
from training.scaling.trials import Trials

FLAGS = flags.FLAGS
_KEYS = {
    "family", "start", "factor_values", "cost", "targets", "tolerance", "permutation", "references",
    "training", "seeds",
}  # fmt: skip


def define_flags():
    config_flags.DEFINE_config_file("config", None, "File with the search.")
    flags.DEFINE_string("workdir", None, "Folder of the search.", required=True)
    flags.DEFINE_string("data_dir", None, "Folder with the official files of the image set.")
    flags.DEFINE_integer("workers", 2, "Trainings at a time.", lower_bound=1)


def main(_):
    if FLAGS.config is None:
        raise InputError("--config is needed: a file such as training/configs/scaling_digits.py")
    search(FLAGS.config, FLAGS.workdir, FLAGS.data_dir, FLAGS.workers)


def search(config, workdir, data_dir=None, workers=2):
    """Searches, or goes on searching.

    Args:
        config: `ConfigDict` with the keys of `training/configs/scaling_digits.py`.
        workdir: folder of the search.
        data_dir: folder of the image set; "digits" needs none.
        workers: int, trainings at a time.

    Returns:
        dict, the content of `search.json`.

    Raises:
        ValueError: a setting is unknown or does not fit, or no factor reaches a target.
        OSError: the images are not there, or the folder cannot be written.
    """
    workdir = pathlib.Path(workdir)
    with Trials(workdir, data_dir=data_dir, workers=workers) as trials:
        bench = _Bench(config, workdir, trials, data_dir)
        steps = []
        for step in greedy.greedy_search(
            bench.family, bench.targets(), bench.cost, bench.accuracies, config.tolerance
        ):
            steps.append(step)
            print(_told(len(steps), step, bench.unit), flush=True)
        permuted = bench.permuted(steps[-1])
        references = bench.references()
    found = {
        "family": config.family,
        "cost": config.cost.to_dict(),
        "unit": bench.unit,
        "test_images": bench.test_images,
        "steps": [dataclasses.asdict(step) for step in steps],
        "permuted": [dataclasses.asdict(one) for one in permuted],
        "references": {name: dataclasses.asdict(one) for name, one in references.items()},
    }
    files.write_json(workdir / "search.json", found)
    chosen = {f"step{number}": step.chosen for number, step in enumerate(steps, 1)}
    if permuted:
        chosen["permuted"] = greedy.most_accurate(permuted)
    _write_chosen(
        workdir / "chosen.py",
        config.family,
        {name: bench.configuration(one.factors) for name, one in chosen.items()},
    )
    plots.draw(steps, permuted, references, bench.unit, workdir / "frontier.png")
    print(_table({"start": steps[0].start, **chosen, **references}, bench.unit))
    print(f"wrote {workdir / 'search.json'}, chosen.py, frontier.png")
    return found


class _Bench:
    """What the search asks: costs of factors by the target, accuracies by trials."""

    def __init__(self, config, workdir, trials, data_dir):
        from data_sets import load_dataset
        from training.recipes import recipe

        _check(config)
        self._config, self._trials, self._about = config, trials, {}
        self._recipe = recipe.plain(config.training)
        self.family = FAMILIES[config.family].changed(config.start, config.factor_values)
        self._cost = costs.Cost(**config.cost, folder=workdir)
        self.unit = self._cost.unit
        self._channels = self._recipe["image_shape"][-1]
        self._num_classes = len(load_dataset(self._recipe["data"], "train", data_dir).class_names)
        self.test_images = len(load_dataset(self._recipe["data"], "test", data_dir))

    def configuration(self, factors):
        return self.family.configuration(factors, self._channels, self._num_classes)

    def cost(self, factors):
        if sys.stderr.isatty():
            print(f"\r\x1b[Kwhat costs {describe(factors)}?\r", end="", file=sys.stderr, flush=True)
        return self._cost(self.configuration(factors))

    def accuracies(self, many):
        """The mean accuracy over the seeds, for each of several factors; None where a training failed."""
        return self._trained(
            [self.configuration(factors) for factors in many],
            [
                {
                    "about": describe(factors),
                    "factors": factors,
                    "cost": self.cost(factors),
                    "unit": self.unit,
                }
                for factors in many
            ],
        )

    def targets(self):
        """Functions from the cost of the model chosen last to the next target."""
        targets = self._config.targets
        if "growth" in targets:
            return [lambda cost: targets.growth * cost] * targets.steps
        scale = self._cost(self._registered(targets.of)) if "of" in targets else 1
        return [
            lambda _, share=share: share * scale
            for share in targets["shares" if "of" in targets else "costs"]
        ]

    def permuted(self, step):
        """The models of the random permutation around the last step's model, trained."""
        import numpy as np

        settings = self._config.permutation
        if not settings.candidates:
            return []
        rng = np.random.default_rng(settings.seed)
        drawn = permute(
            self.family, step.chosen.factors, self.cost, step.chosen.cost, settings.candidates, rng,
            span=settings.span, tolerance=settings.tolerance,
        )  # fmt: skip
        print(
            f"random permutation: {len(drawn)} models around {describe(step.chosen.factors)}",
            flush=True,
        )
        return [
            greedy.Candidate(factors, self.cost(factors), accuracy)
            for factors, accuracy in zip(drawn, self.accuracies(drawn), strict=True)
        ]

    def references(self):
        """Registered models to compare with, trained alike."""
        names = list(self._config.references)
        configurations = [self._registered(name) for name in names]
        found = self._trained(configurations, [{"about": name} for name in names])
        return {
            name: greedy.Candidate({}, self._cost(configuration), accuracy)
            for name, configuration, accuracy in zip(names, configurations, found, strict=True)
        }

    def _registered(self, name):
        shape = list(self._recipe["image_shape"])
        return {"name": name, "input_shape": shape, "num_classes": self._num_classes}

    def _trained(self, configurations, facts):
        seeds = self._config.seeds
        rows = self._trials(
            [self._recipe_of(one, seed) for one in configurations for seed in seeds],
            [fact for fact in facts for _ in seeds],
        )
        found = [row["accuracy"] for row in rows]
        return [_mean(found[i : i + len(seeds)]) for i in range(0, len(found), len(seeds))]

    def _recipe_of(self, configuration, seed):
        arguments = dict(configuration)
        del arguments["num_classes"]
        return {
            **self._recipe,
            "model": arguments.pop("name"),
            "image_shape": arguments.pop("input_shape"),
            "model_arguments": arguments,
            "seed": seed,
        }


def _mean(accuracies):
    return None if None in accuracies else sum(accuracies) / len(accuracies)


def _check(config):
    for key in config:
        if key not in _KEYS:
            raise InputError(f"the config has an unknown key {key!r}; known are {', '.join(sorted(_KEYS))}")
    for key in sorted(_KEYS):
        if key not in config:
            raise InputError(f"the config has no {key!r}: see training/configs/scaling_digits.py")
    if config.family not in FAMILIES:
        raise InputError(f"config.family has to be one of {', '.join(FAMILIES)}; received {config.family!r}")
    if set(config.targets) not in ({"growth", "steps"}, {"of", "shares"}, {"costs"}):
        raise InputError(
            "config.targets has to have growth and steps, or of and shares, or costs; received "
            f"{', '.join(config.targets)}"
        )


def _told(number, step, unit):
    """One step in lines, the chosen candidate marked."""
    lines = [f"step {number}: from {describe(step.start.factors)} to {costs.shown(step.target)} {unit}"]
    for one in step.candidates:
        mark = "*" if one is step.chosen else " "
        accuracy = "failed" if one.accuracy is None else f"{one.accuracy:.4f}"
        lines.append(
            f"{mark} {f'{one.factor} {one.factors[one.factor]}':20} {accuracy:>8} {costs.shown(one.cost):>18}"
        )
    return "\n".join(lines)


def _table(candidates, unit):
    """Candidates in lines."""
    lines = [f"{'':14} {'accuracy':>8} {unit:>18}  factors"]
    for name, one in candidates.items():
        accuracy = "failed" if one.accuracy is None else f"{one.accuracy:.4f}"
        lines.append(f"{name:14} {accuracy:>8} {costs.shown(one.cost):>18}  {describe(one.factors)}")
    return "\n".join(lines)


def _write_chosen(path, family, configurations):
    table = pprint.pformat(configurations, sort_dicts=False, width=100)
    with files.replacing(path) as temporary:
        temporary.write_text(
            f'"""{family} as found by a search, for hsvit_keras.create_model(**VARIANTS[name])."""\n\n'
            f"VARIANTS = {table}\n"
        )


if __name__ == "__main__":
    define_flags()
    commands.run(main)
