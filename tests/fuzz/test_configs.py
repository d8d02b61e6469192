"""Values of configs that are of another kind than they have to be."""

import pytest
from hypothesis import strategies as st

from hsvit_runtime.description import Description
from tests.fuzz.checking import assert_answers, fuzzed
from tests.fuzz.strategies import NOT_FINITE, VALUES
from training.compressing import chain
from training.configs import compress_base, hsvit_base
from training.recipes import recipe, settings

pytestmark = pytest.mark.once
OPTION_TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "ten",
            "None",
            "1.5",
            "True",
            "[1]",
            "nan",
            "inf",
            "1e400",
            "-1",
            "9" * 23,
            "(",
            "'",
            "{'a': 1}",
            "[" * 500,
        ]
    ),
)


@fuzzed(40, 400, key=st.sampled_from(sorted(hsvit_base.get_config())), value=VALUES | NOT_FINITE)
def test_recipes(folder, key, value):
    config = hsvit_base.get_config()
    with config.ignore_type():
        config[key] = value
    assert_answers(lambda: recipe.plain(config), folder)


@fuzzed(
    25,
    250,
    name=st.sampled_from(["slim", "prune", "quantize", "finetune", "none", ""]),
    key=st.sampled_from(
        ["groups", "heads", "sparsity", "scheme", "images", "skip", "epochs", "seed", "x", ""]
    ),
    value=OPTION_TEXTS,
)
def test_steps(folder, name, key, value):
    def read():
        config = compress_base.get_config()
        with config.unlocked():
            config.steps = [chain.parse_step(f"{name} {key}={value}")]
        chain.chain(config, Description(data_set="digits", input_range=(0, 255)), (16, 16, 1))

    assert_answers(read, folder)


@fuzzed(100, 2000, text=OPTION_TEXTS)
def test_values(folder, text):
    assert_answers(lambda: settings.value_of(text), folder)
