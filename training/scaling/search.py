"""Searches the best shape of a family for each of several costs on a target.

    python -m training.scaling.search --config=training/configs/scaling_digits.py --workdir=DIR

Any value of the config can be changed, as in `--config.training.epochs=4`. The folder gets `search.json`
(every step and candidate), `frontier.png`, `chosen.py` (the variants found, for `create_model`),
`trials.jsonl`, `costs.jsonl`, the artifacts that were measured and the runs of all trials. Models are
compared on the validation part, see `validation` in training/configs/hsvit_base.py. A search that was killed
goes on when it is started again.
"""

import dataclasses
import pathlib
import pprint
import sys

from absl import flags

from command_line import commands, config_files, tables
from hsvit_runtime import files
from hsvit_runtime.errors import InputError
from training.scaling import costs, greedy, plots
from training.scaling.factors import FAMILIES, describe
from training.scaling.permutation import permute
from training.scaling.texts import cost_text
from training.scaling.trials import Trials
from training.spreading import workers

FLAGS = flags.FLAGS
_KEYS = {
    "family", "start", "factor_values", "cost", "targets", "tolerance", "permutation", "references",
    "training", "seeds",
}  # fmt: skip


def define_flags():
    config_files.define(None, "File with the search.")
    flags.DEFINE_string("workdir", None, "Folder of the search.", required=True)
    flags.DEFINE_string("data_dir", None, "Folder with the official files of the data set.")
    workers.define_flags(workers.LOCAL)


def main(_):
    if FLAGS.config is None:
        raise InputError("--config is needed: a file such as training/configs/scaling_digits.py")
    search(FLAGS.config, FLAGS.workdir, FLAGS.data_dir, FLAGS.workers, FLAGS.ray)


def search(config, workdir, data_dir=None, workers=2, ray=workers.LOCAL):
    """Searches, or goes on searching.

    Args:
        config: `ConfigDict` with the keys of `training/configs/scaling_digits.py`.
        workdir: folder of the search.
        data_dir: folder of the data set; "digits" needs none.
        workers: int, trainings at a time.
        ray: str, where they run: `"local"`, or `HOST:PORT` of a cluster of Ray.

    Returns:
        dict, the content of `search.json`.

    Raises:
        ValueError: a setting is unknown or does not fit, or no factor reaches a target.
        OSError: the images are not there, or the folder cannot be written.
    """
    workdir = pathlib.Path(workdir)
    with Trials(workdir, data_dir=data_dir, workers=workers, ray=ray) as trials:
        bench = _Bench(config, workdir, trials, data_dir)
        steps = []
        for step in greedy.greedy_search(
            bench.family, bench.targets(), bench.cost, bench.scores, bench.metric, config.tolerance
        ):
            steps.append(step)
            print(_describe_step(len(steps), step, bench), flush=True)
        permuted = bench.permuted(steps[-1])
        references = bench.references()
    found = {
        "family": config.family,
        "cost": config.cost.to_dict(),
        "unit": bench.unit,
        "metric": dataclasses.asdict(bench.metric),
        "validation": {"part": bench.validation_part, "images": bench.validation_images},
        "steps": [dataclasses.asdict(step) for step in steps],
        "permuted": [dataclasses.asdict(one) for one in permuted],
        "references": {name: dataclasses.asdict(one) for name, one in references.items()},
    }
    files.write_json(workdir / "search.json", found)
    chosen = {f"step{number}": step.chosen for number, step in enumerate(steps, 1)}
    if permuted:
        chosen["permuted"] = greedy.best_of(permuted, bench.metric)
    _write_chosen(
        workdir / "chosen.py",
        config.family,
        {name: bench.configuration(one.factors) for name, one in chosen.items()},
    )
    plots.draw(steps, permuted, references, bench.metric, bench.unit, workdir / "frontier.png")
    print(_table({"start": steps[0].start, **chosen, **references}, bench))
    print(f"wrote {workdir / 'search.json'}, chosen.py, frontier.png")
    return found


class _Bench:
    """What the search needs: costs of factors on the target, scores by trials."""

    def __init__(self, config, workdir, trials, data_dir):
        from training.fitting.data import Data
        from training.recipes import recipe

        _check(config)
        self._config, self._trials, self._about = config, trials, {}
        self._recipe = recipe.plain(config.training)
        self.family = FAMILIES[config.family].changed(config.start, config.factor_values)
        self._cost = costs.Cost(**config.cost, folder=workdir)
        self.unit = self._cost.unit
        self._channels = self._recipe["image_shape"][-1]
        data = Data(self._recipe, data_dir)
        self._num_classes, self.metric = data.num_classes, data.task.metric
        self.validation_part, self.validation_images = data.validation_part, len(data.validation_set)

    def configuration(self, factors):
        return self.family.configuration(factors, self._channels, self._num_classes)

    def cost(self, factors):
        if sys.stderr.isatty():
            print(f"\r\x1b[Kcost of {describe(factors)}\r", end="", file=sys.stderr, flush=True)
        return self._cost(self.configuration(factors))

    def scores(self, many):
        """The mean score over the seeds, for each of several factors; None where a training failed."""
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
            greedy.Candidate(factors, self.cost(factors), score)
            for factors, score in zip(drawn, self.scores(drawn), strict=True)
        ]

    def references(self):
        """Registered models to compare with, trained in the same way."""
        names = list(self._config.references)
        configurations = [self._registered(name) for name in names]
        found = self._trained(configurations, [{"about": name} for name in names])
        return {
            name: greedy.Candidate({}, self._cost(configuration), score)
            for name, configuration, score in zip(names, configurations, found, strict=True)
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
        found = [row.get(f"val_{self.metric.name}") for row in rows]
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


def _mean(scores):
    return None if None in scores else sum(scores) / len(scores)


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


def _describe_step(number, step, bench):
    """One step as text, the chosen candidate marked."""
    target = f"{cost_text(step.target)} {bench.unit}"
    rows = [
        (
            f"{'*' if one is step.chosen else ' '} {one.factor} {one.factors[one.factor]}",
            _score(one, bench.metric),
            cost_text(one.cost),
        )
        for one in step.candidates
    ]
    candidates = tables.table(("  scaled up", bench.metric.title, bench.unit), rows)
    return f"step {number}: from {describe(step.start.factors)} to {target}\n{candidates}"


def _table(candidates, bench):
    """Candidates as text."""
    rows = [
        (name, _score(one, bench.metric), cost_text(one.cost), describe(one.factors))
        for name, one in candidates.items()
    ]
    return tables.table(("", bench.metric.title, bench.unit, "factors"), rows)


def _score(candidate, metric):
    return "failed" if candidate.score is None else metric.format(candidate.score)


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
