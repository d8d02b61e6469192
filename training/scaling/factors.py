"""The scaling factors of each family as data: where a search starts, which values there are, which fit.

Factors are a dict from a factor's name to its value. The values of a factor are listed from cheap to costly.
A configuration is a dict of the arguments of `hsvit_keras.create_model`.
"""

import dataclasses
from collections.abc import Callable

from hsvit_runtime.errors import InputError


@dataclasses.dataclass(frozen=True)
class Family:
    """What can be scaled in a family of models.

    Attributes:
        start: dict, the factors of the model that a search starts from.
        values: dict from factor to tuple of its values, from cheap to costly. What is not in it stays.
        arguments: function from factors to the arguments of `create_model`; `side` stands for the image's.
        fits: function from factors to bool.
    """

    start: dict
    values: dict
    arguments: Callable[[dict], dict]
    fits: Callable[[dict], bool]

    def changed(self, start=(), values=()):
        """The family with another start and other values of some factors; those without values stay.

        Raises:
            ValueError: a factor is unknown, or the start does not fit.
        """
        for name in (*dict(start), *dict(values)):
            if name not in self.start:
                raise InputError(f"there is no factor {name!r}; the family has {', '.join(self.start)}")
        family = dataclasses.replace(
            self,
            start={**self.start, **dict(start)},
            values={
                name: tuple(given) for name, given in {**self.values, **dict(values)}.items() if tuple(given)
            },
        )
        if not family.fits(family.start):
            raise InputError(f"these factors do not fit each other: {describe(family.start)}")
        return family

    def line(self, factors, name):
        """The factors with every value of the factor `name` that fits, from cheap to costly."""
        return [changed for value in self.values[name] if self.fits(changed := {**factors, name: value})]

    def scaled_up(self, factors, name):
        """The part of the line beyond the value that the factor has."""
        rising = self.values[name][0] < self.values[name][-1]
        return [
            changed
            for changed in self.line(factors, name)
            if (changed[name] > factors[name] if rising else changed[name] < factors[name])
        ]

    def configuration(self, factors, channels, num_classes):
        """The arguments of `create_model` for images of `channels` and `num_classes`."""
        arguments = self.arguments(factors)
        side = arguments.pop("side")
        return {"input_shape": [side, side, channels], "num_classes": num_classes, **arguments}


def describe(factors):
    """Factors in one line."""
    return ", ".join(f"{name} {value}" for name, value in factors.items())


# ---- DeiT: Table 1 of the paper ----------------------------------------------------------------------
def _deit(factors):
    dim = factors["num_heads"] * factors["head_dim"]
    return {
        "name": "deit_tiny",
        "side": factors["image_size"],
        "patch_size": factors["patch_size"],
        "hidden_dim": dim,
        "depth": factors["depth"],
        "num_heads": factors["num_heads"],
        "mlp_dim": factors["mlp_ratio"] * dim,
    }


DEIT = Family(
    start={
        "depth": 6, "num_heads": 2, "head_dim": 64, "mlp_ratio": 4, "image_size": 160, "patch_size": 16,
    },
    values={
        "depth": tuple(range(1, 65)),
        "num_heads": tuple(range(1, 33)),
        "head_dim": tuple(range(8, 257, 2)),
        "mlp_ratio": tuple(range(1, 33)),
        "image_size": tuple(range(64, 513)),
        "patch_size": tuple(range(64, 3, -1)),
    },
    arguments=_deit,
    fits=lambda factors: factors["image_size"] % factors["patch_size"] == 0,
)  # fmt: skip

# ---- PiT: the smallest of its paper. Blocks are shared out over the stages as 2 to 6 to 4, heads double ----
_PIT_DEPTHS = (2, 6, 4)


def _pit(factors):
    heads, dim = factors["num_heads"], factors["head_dim"]
    return {
        "name": "pit_ti",
        "side": factors["image_size"],
        "patch_size": factors["patch_size"],
        "patch_stride": factors["patch_size"] // 2,
        "depths": [factors["depth"] * share // sum(_PIT_DEPTHS) for share in _PIT_DEPTHS],
        "num_heads": [heads, 2 * heads, 4 * heads],
        "head_dims": [dim, dim, dim],
        "mlp_ratio": factors["mlp_ratio"],
    }


def _pit_fits(factors):
    """Whether there are tokens left to be pooled twice."""
    image, patch = factors["image_size"], factors["patch_size"]
    return image >= patch and (image - patch) // (patch // 2) + 1 >= 4


PIT = Family(
    start={
        "depth": 12, "num_heads": 2, "head_dim": 32, "mlp_ratio": 4, "image_size": 224, "patch_size": 16,
    },
    values={
        "depth": tuple(range(6, 49)),
        "num_heads": tuple(range(1, 17)),
        "head_dim": tuple(range(8, 129, 8)),
        "mlp_ratio": tuple(range(1, 17)),
        "image_size": tuple(range(32, 513, 8)),
        "patch_size": tuple(range(32, 3, -2)),
    },
    arguments=_pit,
    fits=_pit_fits,
)  # fmt: skip

# ---- HSViT: kernels double from stage to stage, and pooling is as in its paper for so many stages ------
_HSVIT_OF_STAGES = {2: "hsvit_c2a2", 3: "hsvit_c3a4", 4: "hsvit_c4a8"}


def _hsvit_filters(factors):
    return [factors["kernels"] * 2**stage for stage in range(factors["stages"])]


def _hsvit(factors):
    return {
        "name": _HSVIT_OF_STAGES[factors["stages"]],
        "side": factors["image_size"],
        "filters": _hsvit_filters(factors),
        "kernel_sizes": factors["kernel_size"],
        "attention_groups": factors["groups"],
        "depth": factors["depth"],
        "hidden_dim": factors["num_heads"] * factors["head_dim"],
        "num_heads": factors["num_heads"],
    }


HSVIT = Family(
    # A quarter of C2A2's kernels and groups.
    start={
        "kernels": 16, "stages": 2, "kernel_size": 3, "groups": 4, "depth": 2, "num_heads": 8, "head_dim": 8,
        "image_size": 32,
    },
    values={
        "kernels": tuple(range(4, 129, 4)),
        "stages": (2, 3, 4),
        "kernel_size": (3, 5, 7),
        "groups": (64, 32, 16, 8, 4, 2, 1),  # attention within large groups costs more
        "depth": tuple(range(1, 17)),
        "num_heads": tuple(range(1, 17)),
        "head_dim": tuple(range(4, 65, 4)),
        "image_size": tuple(range(16, 129, 4)),
    },
    arguments=_hsvit,
    fits=lambda factors: (
        factors["stages"] in _HSVIT_OF_STAGES and _hsvit_filters(factors)[-1] % factors["groups"] == 0
    ),
)  # fmt: skip

FAMILIES = {"deit": DEIT, "pit": PIT, "hsvit": HSVIT}
