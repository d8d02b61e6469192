"""The config of a search, checked and as plain values, before anything is trained, measured or written."""

from hsvit_keras.models.registry import registered
from hsvit_runtime.errors import InputError
from training.fitting.building import check_names
from training.recipes import recipe
from training.recipes.rules import (
    NAME,
    SEED,
    Mapping,
    Rule,
    Table,
    choice,
    integer,
    is_integer,
    is_name,
    is_number,
    number,
    plain,
    sequence,
)
from training.scaling.costs import Cost
from training.scaling.factors import FAMILIES

_LARGEST = 10**6  # value of a factor, such as a number of heads
_AMOUNT = "a sequence of at least one number above 0"


def _is_amount(value):
    return is_number(value) and value > 0


def _are_values(value):
    """Whether these are the values of a factor, which rise or fall; none for a factor that stays."""
    if not isinstance(value, list) or not all(is_integer(one, 1, _LARGEST) for one in value):
        return False
    return value in (sorted(set(value)), sorted(set(value), reverse=True))


_TARGETS = (
    Table(
        {
            "growth": number("above 1 and at most 1000", lambda value: 1 < value <= 1000),
            "steps": integer(1, 100),
        }
    ),
    Table({"of": NAME, "shares": sequence(_AMOUNT, _is_amount, least=1)}),
    Table({"costs": sequence(_AMOUNT, _is_amount, least=1)}),
)


class _Targets:
    """One of three tables."""

    def check(self, value, name):
        for table in _TARGETS:
            if isinstance(value, dict) and value.keys() == table.entries.keys():
                return table.check(value, name)
        received = ", ".join(value) if isinstance(value, dict) and value else repr(value)
        raise InputError(
            f"{name} has to have growth and steps, or of and shares, or costs; received {received}"
        )


SEARCH = Table(
    {
        "family": choice(*FAMILIES),
        "start": Mapping("a table of factors and their values", integer(1, _LARGEST)),
        "factor_values": Rule(
            "a table from factors to their values, integers of at least 1 that rise or fall, or to none",
            lambda value: isinstance(value, dict) and all(map(_are_values, value.values())),
        ),
        "cost": Rule(
            "a table of the name of a cost and its settings, such as {'name': 'multiply_adds'}",
            lambda value: isinstance(value, dict) and is_name(value.get("name")) and "folder" not in value,
        ),
        "targets": _Targets(),
        "tolerance": number("from 0 to 1000", lambda value: 0 <= value <= 1000),
        "permutation": Table(
            {
                "candidates": integer(0, 1000),
                "span": number("from 0 to 10", lambda value: 0 <= value <= 10),
                "tolerance": number("from 0 to 10", lambda value: 0 <= value <= 10),
                "seed": SEED,
            }
        ),
        "references": sequence("a sequence of names of models", is_name),
        "training": recipe.RECIPE,
        "seeds": sequence("a sequence of at least one integer from 0 on", SEED.is_right, least=1),
    },
    source=": see training/configs/scaling_digits.py",
)


def plain_search(config):
    """Gives the config of a search as plain values.

    Args:
        config: `ConfigDict` with the keys of `training/configs/scaling_digits.py`.

    Raises:
        ValueError: a key is unknown or missing, a value is of another type or out of its range, or the
            factors do not fit each other or leave nothing to scale.
    """
    values = plain(config, "scaling_digits")
    SEARCH.check(values, "config")
    recipe.check_rates(values["training"], "config.training")
    family = FAMILIES[values["family"]].changed(values["start"], values["factor_values"])
    if not family.values:
        raise InputError("config.factor_values has to leave a factor with values: there is nothing to scale")
    if values["training"]["image_shape"] is None:
        raise InputError("config.training.image_shape is needed: a search does not find it")
    check_names(values["training"])
    Cost(**values["cost"])
    for name in values["references"]:
        registered(name)
    if "of" in values["targets"]:
        registered(values["targets"]["of"])
    return values
