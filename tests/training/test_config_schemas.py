"""Each kind of config has a schema: what is wrong is named by its key, its value and what it may be."""

import copy
import math
import os
import pathlib
import subprocess
import sys

import pytest
from ml_collections import ConfigDict

from hsvit_runtime.errors import InputError
from training.compressing import chain, steps, study
from training.configs import compress_digits, compress_study_digits, digits, scaling_digits
from training.fitting.building import check_names
from training.recipes import recipe
from training.recipes.rules import plain
from training.scaling import settings
from training.scaling.search import search

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
NAN, INFINITE = math.nan, math.inf
# Of each kind a config that is right, and what checks it.
KINDS = {
    "training": (digits, recipe.plain),
    "compression": (compress_digits, lambda config: chain.checked_steps(chain.plain_chain(config))),
    "study": (compress_study_digits, study.check),
    "scaling": (scaling_digits, settings.plain_search),
}


def changed(kind, key, value):
    """A config of a kind with another value; `key` is a path."""
    values = copy.deepcopy(plain(KINDS[kind][0].get_config(), kind))
    *tables, last = key.split(".")
    table = values
    for name in tables:
        table = table[name]
    table[last] = value
    return ConfigDict(values)


@pytest.mark.parametrize("kind", KINDS)
def test_a_config_of_the_kind_is_right(kind):
    module, check = KINDS[kind]
    check(module.get_config())


INTEGERS = ["ten", None, 1.5, True, [1], 0, -1, 10**9, 10**25]
WRONG = [
    *(("training", "epochs", value, "an integer from 1 to 1000000") for value in INTEGERS),
    *(("training", "batch_size", value, "an integer from 1 to 1000000") for value in (1.5, 0, 10**12)),
    *(("training", "num_workers", value, "an integer from 0 to 256") for value in (100_000, -1, None)),
    *(("training", "seed", value, "an integer from 0 to 4294967295") for value in (10**22, 0.5)),
    *(("training", "learning_rate", value, "a number above 0") for value in (NAN, INFINITE, 1e30, 10**400)),
    *(("training", "weight_decay", value, "a number from 0 to 1000") for value in (INFINITE, 1e30, "x")),
    *(("training", "warmup_epochs", value, "an integer from 0 to") for value in (0.5, -1)),
    *(("training", "jit", value, "True or False, or None") for value in ("yes", 1)),
    *(
        ("training", "image_shape", value, "three integers from 1 to")
        for value in ((1e5, 1, 1), (10**6,) * 3)
    ),
    ("training", "std", (1e400,), "a sequence of numbers above 0"),
    ("training", "views", 10**12, "an integer from 1 to 1000"),
    ("training", "patience", 1.5, "an integer from 1 to 1000000, or None"),
    ("training", "optimizer", ["adam"], "one of adamw, adam, sgd"),
    ("training", "dtype", {}, "one of float32"),
    ("training", "model_arguments", {"depth": NAN}, "a table of arguments, with finite numbers"),
    ("training", "evaluation_crop", 5, "a dict of share and interpolation"),
    ("training", "distillation.alpha", 2, r"a number in [0, 1]"),
    ("training", "distillation.hard", "abc", "True or False"),
    ("training", "distillation.temperature", INFINITE, "a number above 0"),
    ("training", "distillation.features", [["a", 1]], "a sequence of pairs of layers' names"),
    *(
        ("training", "augmentation", value, "a sequence of pairs of an operation's name and a dict")
        for value in (5, None, ["RandomFlip"], [["RandomFlip", 5]], [["RandomZoom", {"height_factor": NAN}]])
    ),
    *(("compression", "steps", value, "pair of a step's name and a dict") for value in (5, ["quantize"])),
    ("compression", "steps", [["quantize", 5]], "pair of a step's name and a dict"),
    ("compression", "epochs", -1, "an integer from 0 to 1000000"),
    ("compression", "input_range", [1, NAN], "two different numbers, of black and of white, or None"),
    ("compression", "distillation.alpha", "x", "a number in [0, 1]"),
    *(("scaling", "cost", value, "a table of the name of a cost") for value in (None, {}, {"name": 5}, "x")),
    *(("scaling", "targets", value, "growth and steps, or of and shares") for value in (None, {}, [1])),
    *(("scaling", "targets.growth", value, "a number above 1") for value in (1.0, 0, "x", INFINITE)),
    *(("scaling", "targets.steps", value, "an integer from 1 to 100") for value in (0, 1.5, 10**9)),
    *(("scaling", "factor_values", value, "a table from factors to their values") for value in (None, 5)),
    *(
        ("scaling", "factor_values", {"depth": value}, "a table from factors to their values")
        for value in (5, ["a", "b"], [1, 3, 2], [0, 1], [1, 1], None)
    ),
    *(("scaling", "permutation", value, "a table of settings") for value in (None, 5)),
    *(("scaling", "permutation.candidates", value, "an integer from 0 to 1000") for value in (None, 10**9)),
    *(("scaling", "permutation.span", value, "a number from 0 to 10") for value in (NAN, "x", -1)),
    *(("scaling", "seeds", value, "at least one integer from 0 on") for value in ((), None, ("a",), 0)),
    *(("scaling", "tolerance", value, "a number from 0 to 1000") for value in (None, NAN, -1)),
    *(("scaling", "references", value, "a sequence of names of models") for value in (None, 5, [1])),
    *(("scaling", "start", value, "a table of factors") for value in (None, {})),
    ("scaling", "family", 5, "one of deit, pit, hsvit"),
    ("scaling", "training", None, "a table of settings"),
    ("scaling", "training.epochs", 0, "an integer from 1 to 1000000"),
    *(("study", "models", value, "a table of at least one model's name") for value in (None, {}, 5)),
    ("study", "models", {"hsvit_tiny": 5}, "a table of settings"),
    *(("study", "chains", value, "a table of at least one name") for value in (None, {})),
    *(("study", "chains", {"a": value}, "pair of a step's name and a dict") for value in (5, ())),
    ("study", "compression", None, "a table of settings"),
    ("study", "training.seed", -1, "an integer from 0 to 4294967295"),
]


@pytest.mark.parametrize("kind, key, value, words", WRONG)
def test_a_wrong_value(kind, key, value, words):
    with pytest.raises(InputError) as raised:
        KINDS[kind][1](changed(kind, key, value))
    message = str(raised.value)
    assert message.startswith(f"config.{key}")
    assert words in message and "received " in message
    assert "\n" not in message and len(message) < 600


OTHERS = [
    ("training", "nope", 1, "the config has an unknown key 'nope'"),
    ("training", "distillation.foo", 1, "config.distillation has an unknown key 'foo'"),
    ("training", "warmup_epochs", 15, "config.warmup_epochs has to be less than epochs"),
    ("training", "model_arguments", {1: 2}, "config.model_arguments has the key 1; keys are names"),
    ("training", "model_arguments", {"f": print}, "config.model_arguments.f has to be a number, text, None"),
    ("compression", "nope", 1, "the config has an unknown key 'nope'"),
    ("scaling", "nope", 1, "the config has an unknown key 'nope'"),
    ("scaling", "cost.blocks", 3, "the cost arm_instructions has no setting 'blocks'"),
    ("scaling", "cost.core", 5, "the setting core of arm_instructions has to be one of cortex-a72"),
    ("scaling", "cost.preset", "int9", "preset has to be one of float32"),
    (
        "scaling",
        "cost",
        {"name": "throughput", "memory_gib": "x"},
        "memory_gib of throughput has to be a number",
    ),
    ("scaling", "targets", {"of": "nope", "shares": [0.5]}, "there is no model 'nope'"),
    ("scaling", "references", ["nope"], "there is no model 'nope'"),
    ("scaling", "start.depth", 0, "config.start['depth'] has to be an integer from 1"),
    ("scaling", "factor_values", {"nope": [1]}, "there is no factor 'nope'"),
    ("scaling", "training.data", "5", "data='5' is not a known data set"),
    (
        "scaling",
        "training.augmentation",
        [["RandomFlip", {"mode": "x"}]],
        "RandomFlip does not take {'mode': 'x'}",
    ),
    ("scaling", "permutation", {}, "config.permutation has no 'candidates'"),
    ("scaling", "training", {}, "config.training has no 'model'"),
    ("scaling", "training.image_shape", None, "config.training.image_shape is needed"),
    (
        "scaling",
        "factor_values",
        {factor: [] for factor in settings.FAMILIES["deit"].start},
        "config.factor_values has to leave a factor with values",
    ),
    ("study", "nope", 1, "the config has an unknown key 'nope'"),
    ("study", "models", {"nope": {"arguments": {}}}, "there is no model 'nope'"),
    (
        "study",
        "models",
        {"hsvit_tiny": {"arguments": {"dept": 1}}},
        "has no argument 'dept'; did you mean 'depth'",
    ),
    ("study", "models", {"hsvit_tiny": {}}, "config.models['hsvit_tiny'] has no 'arguments'"),
    ("study", "models", {"/a": {"arguments": {}}}, "'/a' is no name of a file"),
    ("study", "chains", {"a/b": [["quantize", {}]]}, "'a/b' is no name of a file"),
    ("study", "chains", {"a": [["slimm", {}]]}, "chain 'a' of cct: there is no step 'slimm'"),
    ("study", "compression.steps", [["quantize", {}]], "config.compression.steps has to be empty"),
]


@pytest.mark.parametrize("kind, key, value, words", OTHERS)
def test_what_is_unknown_missing_or_contradicts(kind, key, value, words):
    with pytest.raises(InputError) as raised:
        KINDS[kind][1](changed(kind, key, value))
    assert words in str(raised.value)


STEPS = [
    ("slim", {}, "step 'slim' removes nothing: it needs one of groups, heads, mlp_units, kernels, blocks"),
    ("slim", {"score": "taylor"}, "step 'slim' removes nothing"),
    *(
        ("slim", {"groups": value}, "step 'slim': groups has to be how many parts are kept")
        for value in (None, 0, -1, 2.0, True, "x", NAN, INFINITE, [], {}, {"a": None})
    ),
    ("slim", {"heads": 1, "score": "best"}, "step 'slim': score has to be one of weight, gain, taylor"),
    ("slim", {"heads": 1, "images": 0}, "step 'slim': images has to be an integer from 1"),
    *(
        ("prune", {"sparsity": value}, "step 'prune': sparsity has to be a number above 0 and below 1")
        for value in (0, 1, 2, None, "nan", True)
    ),
    ("prune", {"pattern": 5}, "step 'prune': pattern has to be 'weight', a block of two integers"),
    ("prune", {"scope": "all"}, "step 'prune': scope has to be one of layer, global; received 'all'"),
    ("prune", {"skip": 5}, "step 'prune': skip has to be the name of a layer, or a list of names"),
    ("quantize", {"skip": [5]}, "step 'quantize': skip has to be the name of a layer"),
    ("quantize", {"scheme": 3}, "step 'quantize': scheme has to be one of int8"),
    ("quantize", {"images": -5}, "step 'quantize': images has to be an integer from 1"),
    ("finetune", {"epochs": 1.5}, "step 'finetune': epochs has to be an integer from 0 to 1000000"),
    ("finetune", {"alpha": 2}, "step 'finetune': alpha has to be a number in [0, 1]; received 2"),
    ("finetune", {"warmup_epochs": 7}, "step 'finetune'.warmup_epochs has to be less than epochs"),
    ("finetune", {"groups": 2}, "step 'finetune' has no argument 'groups'"),
    *(("finetune", {key: {}}, f"has no argument '{key}'") for key in ("distillation", "steps", "data")),
]


@pytest.mark.parametrize("name, arguments, words", STEPS)
def test_a_wrong_argument_of_a_step(name, arguments, words):
    if not all(math.isfinite(value) for value in arguments.values() if isinstance(value, float)):
        words = "config.steps has to be a sequence"
    with pytest.raises(InputError) as raised:
        KINDS["compression"][1](changed("compression", "steps", [[name, arguments]]))
    assert words in str(raised.value)


@pytest.mark.parametrize("kept", [1, 0.5, 1.0, [0, 2], ["a_layer"], {"a_layer": 2, "b": [1]}])
def test_what_a_step_may_keep(kept):
    (step,) = KINDS["compression"][1](changed("compression", "steps", [["slim", {"groups": kept}]]))
    assert step.arguments == {"groups": kept}


def test_the_arguments_of_steps_are_those_of_their_functions():
    for name, function in steps.STEPS.items():
        assert set(steps.ARGUMENTS[name]) == set(function.__kwdefaults__ or ())


def test_an_argument_that_is_given_twice():
    with pytest.raises(
        InputError, match="--step='slim groups=1 groups=2' has groups more than once, 1 and 2"
    ):
        chain.parse_step("slim groups=1 groups=2")


def test_a_number_that_python_does_not_write():
    with pytest.raises(InputError, match="received an integer of thousands of digits"):
        recipe.plain(changed("training", "seed", 10**5000))


def test_a_config_that_is_nested_too_deeply():
    config = digits.get_config()
    config.model_arguments = {"a": [[]]}
    deepest = config.model_arguments.a
    for _ in range(10_000):
        deepest[0] = [[]]
        deepest = deepest[0]
    with pytest.raises(InputError, match=r"^config.model_arguments.a\[0\].* is nested too deeply"):
        recipe.plain(config)


def test_nothing_is_written_for_a_wrong_config(tmp_path):
    for kind, command in (("scaling", search), ("study", study.study)):
        with pytest.raises(InputError, match=r"config\.training\.epochs"):
            command(changed(kind, "training.epochs", 0), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "table, words",
    [
        ([("RandomFlip", {"mode": "x"})], "RandomFlip does not take {'mode': 'x'}"),
        ([("MixUp", {"alpha": "x"})], "MixUp does not take {'alpha': 'x'}: alpha has to be a number above 0"),
        ([("Nope", {})], "there is no operation 'Nope'"),
    ],
)
def test_an_augmentation_is_checked_before_data_are_opened(table, words):
    with pytest.raises(InputError) as raised:
        check_names({**recipe.plain(digits.get_config()), "augmentation": table, "data": "imagenet"})
    assert words in str(raised.value)


COMMANDS = [
    (["training.train", "--workdir=run"], ["epochs=ten", "jit=yes"]),
    (["training.train", "--workdir=run"], ["learning_rate=nan"]),
    (["training.train", "--workdir=run"], ["seed=12345678901234567890123"]),
    (["training.train", "--workdir=run"], ["augmentation=(('MixUp',{'alpha':'x'}),)"]),
    (["training.compress", "--model=m.keras", "--output=n.keras", "--step=slim groups=None"], []),
    (["training.scaling.search", "--workdir=run"], ["targets.growth=0.5"]),
]


@pytest.mark.slow
@pytest.mark.parametrize("command, changes", COMMANDS)
def test_a_process_that_is_given_a_wrong_value(tmp_path, command, changes):
    """It ends with status 1 and one line, and nothing is there that was not before."""
    module, *options = command
    file = {"training.train": "digits", "training.scaling.search": "scaling_digits"}.get(module)
    options += [f"--config={ROOT / 'training/configs' / file}.py"] if file else []
    (tmp_path / "m.keras").write_text("no model, but not read before the step is")
    done = subprocess.run(
        [sys.executable, "-m", module, *options, *(f"--config.{change}" for change in changes)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["m.keras"]
