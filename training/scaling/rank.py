"""Whether two costs rank models in the same order: Kendall's rank correlation, as the paper's Figure 8.

    python -m training.scaling.rank --costs=multiply_adds,arm_instructions --models=20 --cache=DIR

The models are drawn from the paper's grid of 2,700 vision transformers.
"""

import itertools

from absl import flags

from command_line import bounded, commands, tables
from hsvit_runtime import files, outputs
from hsvit_runtime.errors import InputError
from training.scaling import costs
from training.scaling.factors import DEIT

FLAGS = flags.FLAGS

# Section 4.2.2
GRID = {
    "depth": (3, 6, 12, 18, 24),
    "num_heads": (2, 3, 6, 8, 12),
    "head_dim": (32, 64, 96),
    "mlp_ratio": (2, 4, 8),
    "image_size": (128, 160, 224, 320),
    "patch_size": (8, 16, 32),
}


def define_flags():
    bounded.names(
        "costs",
        ["multiply_adds", "parameters"],
        f"Two or more of {', '.join(costs.UNITS)}.",
        list(costs.UNITS),
    )
    bounded.integer("models", 20, "How many models of the grid.", 2, bounded.MANY)
    bounded.seed("Which of them.")
    bounded.integer("image_size", None, "Only models for images of this size.", 1, 16_384)
    costs.define_settings_of_factors()


def main(_):
    if len(FLAGS.costs) < 2:
        raise InputError(f"--costs takes two or more; received {','.join(FLAGS.costs)}")
    outputs.check(FLAGS.output, outputs.json_with("models", "costs", "kendall"))
    measures = [costs.of_flags(name, FLAGS.cache) for name in FLAGS.costs]
    table = {measure.name: [] for measure in measures}
    drawn = draw(FLAGS.models, FLAGS.seed, FLAGS.image_size)
    for number, factors in enumerate(drawn, 1):
        configuration = DEIT.configuration(factors, FLAGS.channels, FLAGS.num_classes)
        for measure in measures:
            table[measure.name].append(measure(configuration))
        commands.show_progress("model", number, len(drawn))
    found = kendall(table)
    print(as_text(found))
    if FLAGS.output:
        files.write_json(FLAGS.output, {"models": drawn, "costs": table, "kendall": found})
        print(f"wrote {FLAGS.output}")


def draw(count, seed=0, image_size=None):
    """Draws models of the grid.

    Args:
        count: int.
        seed: int.
        image_size: int, the only size of images; None for all of the grid.

    Returns:
        list of dicts of factors.

    Raises:
        ValueError: the grid has not so many.
    """
    import numpy as np

    grid = {**GRID, **({"image_size": (image_size,)} if image_size else {})}
    every = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    every = [factors for factors in every if DEIT.fits(factors)]
    if count > len(every):
        raise InputError(f"the grid has {len(every)} models; received models={count}")
    return [every[i] for i in sorted(np.random.default_rng(seed).choice(len(every), count, replace=False))]


def kendall(table):
    """Kendall's rank correlation coefficient of each pair of costs.

    Args:
        table: dict from cost to list of numbers, one a model, in the same order.

    Returns:
        dict from cost to dict from cost to float in [-1, 1].

    Raises:
        ValueError: the lists differ in length, or a cost is the same for all models.
    """
    from scipy.stats import kendalltau

    if len({len(values) for values in table.values()}) > 1:
        lengths = ", ".join(f"{name} {len(values)}" for name, values in table.items())
        raise InputError(f"every cost has to be known of every model; received {lengths}")
    for name, values in table.items():
        if len(set(values)) < 2:
            raise InputError(f"{name} is the same for all models: there is nothing to rank")
    return {
        one: {other: float(kendalltau(table[one], table[other]).statistic) for other in table}
        for one in table
    }


def as_text(found):
    """The coefficients as text."""
    rows = [(one, *(f"{value:.2f}" for value in row.values())) for one, row in found.items()]
    return tables.table(("", *found), rows)


if __name__ == "__main__":
    define_flags()
    commands.run(main)
