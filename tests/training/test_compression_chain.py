"""What the command line and configs of a compression ask for, and what is said of wrong ones."""

import dataclasses

import pytest

from hsvit_keras.tasks import task_named
from hsvit_runtime.description import Description
from hsvit_runtime.resizing import Resizing
from training.compressing.chain import chain, parse_step, with_teachers
from training.configs import compress_base, compress_digits

MODEL = Description(task="classification", data_set="digits", input_range=(0, 255))


def config(*steps, **settings):
    made = compress_base.get_config()
    made.steps = steps
    for name, value in settings.items():
        made[name] = value
    return made


def only_step(name, arguments, **settings):
    (step,) = chain(config((name, arguments), **settings), MODEL, (8, 8, 1))
    return step


@pytest.mark.parametrize(
    "text, expected",
    [
        ("quantize", ("quantize", {})),
        (
            "slim groups=8 kernels=0.5 score=taylor",
            ("slim", {"groups": 8, "kernels": 0.5, "score": "taylor"}),
        ),
        ("prune pattern=2:4", ("prune", {"pattern": "2:4"})),
        ("prune pattern=4,1 skip=head", ("prune", {"pattern": (4, 1), "skip": "head"})),
        ("slim groups=[0,2]", ("slim", {"groups": [0, 2]})),
        ("quantize skip=head,stage0_conv0", ("quantize", {"skip": ["head", "stage0_conv0"]})),
        ("finetune hard=True teachers=", ("finetune", {"hard": True, "teachers": ""})),
        ("finetune teachers='a b.keras'", ("finetune", {"teachers": "a b.keras"})),
    ],
)  # fmt: skip
def test_steps_are_read_from_the_command_line(text, expected):
    assert parse_step(text) == expected


@pytest.mark.parametrize("text", ["", "slim groups", "slim 'groups=1"])
def test_a_step_that_cannot_be_read_is_named(text):
    with pytest.raises(ValueError, match="--step takes a name and arguments"):
        parse_step(text)


def test_what_no_setting_says_is_the_default_and_data_are_the_models():
    step = only_step("slim", {"groups": 2})
    assert (step.name, step.arguments, str(step)) == ("slim", {"groups": 2}, "slim groups=2")
    assert (step.values["data"], step.values["input_range"]) == ("digits", [0, 255])
    assert (step.values["batch_size"], step.values["weight_decay"]) == (64, 0.01)
    assert (step.values["epochs"], step.values["learning_rate"]) == (5, 1e-3)
    assert step.values["validation"] == {"share": 0.1, "seed": 0}
    assert step.values["image_shape"] == [8, 8, 1]
    assert step.values["distillation"]["teachers"] is None


@pytest.mark.parametrize(
    "task, teachers",
    [("classification", ["original"]), ("segmentation", ["original"]), ("detection", []), ("regression", [])],
)
def test_the_original_teaches_where_outputs_are_logits_of_classes(task, teachers):
    steps = [only_step("finetune", {}), only_step("finetune", {"teachers": "big.keras"})]
    first, second = with_teachers(steps, task_named(task))
    assert first.values["distillation"]["teachers"] == teachers
    assert second.values["distillation"]["teachers"] == ["big.keras"]


def test_images_are_resized_as_the_model_says():
    (step,) = chain(
        config(("finetune", {})), dataclasses.replace(MODEL, resizing=Resizing("box", 9)), (8, 8, 1)
    )
    assert step.values["resizing"] == {"filter": "box", "size": 9}
    assert "resizing" not in only_step("finetune", {}).values


def test_settings_of_a_step_come_before_those_of_the_config():
    settings = {"batch_size": 32, "learning_rate": 0.1}
    arguments = {"learning_rate": 0.01, "alpha": 0.9, "teachers": "big.keras", "sparsity": 0.8}
    step = only_step("prune", arguments, **settings)
    assert step.arguments == {"sparsity": 0.8}
    assert (step.values["batch_size"], step.values["learning_rate"]) == (32, 0.01)
    assert (step.values["distillation"]["alpha"], step.values["distillation"]["temperature"]) == (0.9, 3.0)
    assert step.values["distillation"]["teachers"] == ["big.keras"]


def test_a_step_may_have_an_optimizer_of_its_own():
    arguments = {"optimizer": "sgd", "clip_norm": 1.0, "ema_momentum": 0.9, "teacher_input_range": [0, 1]}
    values = only_step("finetune", arguments).values
    assert (values["optimizer"], values["clip_norm"], values["ema_momentum"]) == ("sgd", 1.0, 0.9)
    assert values["distillation"]["teacher_input_range"] == [0, 1]
    assert only_step("finetune", {}).values["optimizer"] == "adamw"


def test_settings_of_a_step_are_of_no_other():
    first, second = chain(
        config(("slim", {"groups": 1, "epochs": 9, "hard": True}), ("quantize", {})), MODEL, (8, 8, 1)
    )
    assert (first.values["epochs"], second.values["epochs"]) == (9, 5)
    assert (first.values["distillation"]["hard"], second.values["distillation"]["hard"]) == (True, False)


def test_a_step_may_do_without_training_and_without_teacher():
    assert only_step("quantize", {"epochs": 0}).values["epochs"] == 0
    assert only_step("finetune", {"teachers": ""}).values["distillation"]["teachers"] == []


def test_the_config_for_digits_is_a_chain():
    names = [step.name for step in chain(compress_digits.get_config(), MODEL, (32, 32, 1))]
    assert names == ["slim", "prune", "quantize"]


@pytest.mark.parametrize(
    "steps, settings, words",
    [
        ([], {}, "nothing to do: name steps with --step"),
        ([("slimm", {})], {}, "there is no step 'slimm'; did you mean 'slim'"),
        ([("slim", {"group": 2})], {}, "step 'slim' has no argument 'group'; did you mean 'groups'"),
        ([("slim", {"lerning_rate": 2})], {}, "did you mean 'learning_rate'"),
        (
            [("slim", {"epochs": -1})],
            {},
            "step 'slim': epochs has to be an integer from 0 to 1000000; received -1",
        ),
        ([("slim", {"learning_rate": 0})], {}, "learning_rate has to be a number above 0"),
        ([("prune", {"epochs": 0})], {}, "'prune' trains while it prunes"),
        ([("quantize", {}), ("slim", {"groups": 1})], {}, "step 'slim' cannot follow 'quantize'"),
        ([("quantize", {}), ("quantize", {})], {}, "step 'quantize' cannot follow 'quantize'"),
    ],
)
def test_a_wrong_chain_is_named_before_anything_is_computed(steps, settings, words):
    with pytest.raises(ValueError, match=words):
        chain(config(*steps, **settings), MODEL, (8, 8, 1))


def test_an_unknown_setting_is_named():
    made = config(("quantize", {}))
    made.update({"epoch": 3})
    with pytest.raises(ValueError, match="unknown key 'epoch'; did you mean 'epochs'"):
        chain(made, MODEL, (8, 8, 1))


def test_a_model_that_says_nothing_needs_its_data_named():
    with pytest.raises(ValueError, match=r"does not say its data set: name it by --config\.data"):
        chain(config(("quantize", {})), Description(), (8, 8, 1))
    with pytest.raises(ValueError, match=r"give those of black and white by --config\.input_range"):
        chain(config(("quantize", {}), data="digits"), Description(), (8, 8, 1))
    settings = {"data": "digits", "input_range": (-1.0, 1.0)}
    (step,) = chain(config(("quantize", {}), **settings), Description(), (8, 8, 1))
    assert (step.values["data"], step.values["input_range"]) == ("digits", [-1, 1])
