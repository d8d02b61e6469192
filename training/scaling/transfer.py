"""Carries a scaling strategy found for one family to another: the paper's Table 6 and appendix A.

    python -m training.scaling.transfer --strategy=deit_scaled_tiny --from=deit_tiny --to=pit_ti

The factors that both unscaled models have alike take the strategy's values: with DeiT and PiT depth, MLP
ratio, image and patch size. Of what remains, the number of heads brings the cost back to that of the unscaled
model; if it ends above, the depth gives way. `--strategy` may be the search.json of a search for DeiT.
"""

from absl import flags

from command_line import bounded, commands, tables
from hsvit_runtime import files, json_files, outputs
from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import TEXT, array, mapping, record
from training.scaling import costs
from training.scaling.factors import FAMILIES, describe
from training.scaling.texts import cost_text

FLAGS = flags.FLAGS
# What the paper's three cases allow: PiT-Scaled-Small costs 5.1% more, and XS at full depth would 5.5%.
TOLERANCE = 0.053


def define_flags():
    flags.DEFINE_string(
        "strategy", None, "A DeiT of the paper, or the search.json of a search.", required=True
    )
    flags.DEFINE_string("from", "deit_tiny", "The unscaled DeiT that the strategy is compared with.")
    flags.DEFINE_string("to", "pit_ti", "The unscaled PiT that it is carried to.")
    flags.DEFINE_enum("cost", "full_multiply_adds", list(costs.UNITS), "What must not grow.")
    bounded.number("tolerance", TOLERANCE, "By which share the cost may grow.", 0, 1000)
    costs.define_settings_of_factors()


def main(_):
    outputs.check(FLAGS.output, outputs.json_with("factors", "cost", "configuration"), reads=[FLAGS.strategy])
    family = FAMILIES["pit"]
    measure = costs.of_flags(FLAGS.cost, FLAGS.cache)

    def configuration(factors):
        """Distilled, as the paper trains and counts all its models."""
        return {**family.configuration(factors, FLAGS.channels, FLAGS.num_classes), "distilled": True}

    def cost(factors):
        return measure(configuration(factors))

    baseline = pit_factors(FLAGS.to)
    factors = transfer(
        strategy_factors(FLAGS.strategy),
        deit_factors(FLAGS["from"].value),
        family,
        baseline,
        cost,
        FLAGS.tolerance,
    )
    rows = [
        (name, cost_text(cost(one)), describe(one))
        for name, one in ((FLAGS.to, baseline), ("transferred", factors))
    ]
    print(tables.table(("", measure.unit, "factors"), rows))
    if FLAGS.output:
        files.write_json(
            FLAGS.output, {"factors": factors, "cost": cost(factors), "configuration": configuration(factors)}
        )
        print(f"wrote {FLAGS.output}")


def transfer(strategy, unscaled, family, baseline, cost, tolerance=TOLERANCE):
    """Carries a strategy to another family.

    Args:
        strategy: dict, factors of the scaled model of the first family.
        unscaled: dict, factors of its unscaled model.
        family: `Family` to carry it to.
        baseline: dict, factors of that family's unscaled model.
        cost: function from factors of that family to a number.
        tolerance: float, by which share the cost may exceed that of `baseline`.

    Returns:
        dict of factors.

    Raises:
        ValueError: no number of heads fits.
    """
    alike = [name for name in baseline if name in unscaled and unscaled[name] == baseline[name]]
    factors = {**baseline, **{name: strategy[name] for name in alike}}
    line = family.line(factors, "num_heads")
    if not line:
        raise InputError(f"these factors do not fit each other: {describe(factors)}")
    limit = cost(baseline)
    factors = min(line, key=_distance_while_near(cost, limit))
    shallower = sorted(family.line(factors, "depth"), key=lambda one: -one["depth"])
    for one in shallower:
        if "depth" in alike and baseline["depth"] <= one["depth"] <= factors["depth"]:
            factors = one
            if cost(one) <= limit * (1 + tolerance):
                break
    return factors


def _distance_while_near(cost, limit):
    """How far a cost is from the limit; what is beyond the first that is above is not measured."""
    beyond = False

    def distance(factors):
        nonlocal beyond
        if beyond:
            return float("inf")
        found = cost(factors)
        beyond = found > limit
        return abs(found - limit)

    return distance


def deit_factors(name):
    """The factors of a DeiT of the paper.

    Raises:
        ValueError: there is no such model.
    """
    from hsvit_keras.models import deit

    _known(name, deit.VARIANTS)
    names = ("depth", "num_heads", "head_dim", "mlp_ratio", "image_size", "patch_size")
    return dict(zip(names, deit.VARIANTS[name], strict=True))


def pit_factors(name):
    """The factors of a PiT of its paper; of depths that are shared out alike, the lowest.

    Raises:
        ValueError: there is no such model, or its shape is not one of these factors.
    """
    from hsvit_keras.models import pit

    _known(name, pit.VARIANTS)
    depths, heads, dim, image, patch, _ = pit.VARIANTS[name]
    factors = {
        "depth": 0, "num_heads": heads[0], "head_dim": dim, "mlp_ratio": 4, "image_size": image,
        "patch_size": patch,
    }  # fmt: skip
    for one in FAMILIES["pit"].line(factors, "depth"):
        if FAMILIES["pit"].arguments(one)["depths"] == list(depths):
            return one
    raise InputError(f"{name} shares its blocks out otherwise, {depths}, than the family that is scaled")


_FACTOR = {"type": "number", "exclusiveMinimum": 0, "maximum": 1e6}
_SEARCH = record(family=TEXT, steps=array(record(chosen=record(factors=mapping(_FACTOR))), least=1))


def strategy_factors(text):
    """The factors of a DeiT of the paper, or those that the last step of a search chose."""
    if not text.endswith(".json"):
        return deit_factors(text)
    found = json_files.read(text, _SEARCH, "search.json of training.scaling.search")
    family, factors = found["family"], found["steps"][-1]["chosen"]["factors"]
    if family != "deit":
        raise InputError(f"{text} is a search for {family}; a strategy is carried from deit")
    return factors


def _known(name, variants):
    from hsvit_keras.models.registry import suggest

    if name not in variants:
        raise InputError(f"there is no model {name!r}; {suggest(name, variants)}")


if __name__ == "__main__":
    define_flags()
    commands.run(main)
