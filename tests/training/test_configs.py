"""The recipes say what the paper says, fit their data and models, and a typo does not get far."""

import importlib
import json
import math
import pathlib

import keras
import pytest
from ml_collections import ConfigDict

import hsvit_keras
from data_sets import DATASETS
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.tasks import task_named
from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call
from tests.parameters import slow_but
from training import train
from training.configs import digits, hsvit_base
from training.fitting.augmentation import Augmentation
from training.fitting.building import build_model
from training.recipes import recipe

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
NAMES = sorted(
    path.stem
    for path in (ROOT / "training/configs").glob("*.py")
    if path.stem not in ("__init__", "hsvit_base") and not path.stem.startswith(("compress_", "scaling_"))
)
PAPER = {
    "hsvit_fashion_mnist": ("Fashion-MNIST", (28, 28, 1)),
    "hsvit_cifar10": ("CIFAR-10", (32, 32, 3)),
    "hsvit_cifar100": ("CIFAR-100", (32, 32, 3)),
    "hsvit_tiny_imagenet": ("Tiny-ImageNet", (64, 64, 3)),
    "hsvit_food101": ("Food-101", (128, 128, 3)),
}


def load(name):
    return importlib.import_module(f"training.configs.{name}").get_config()


def names(count):
    return tuple(map(str, range(count)))


# All but that of any folder, whose images decide what the recipe leaves open.
@pytest.mark.parametrize(
    "name",
    slow_but(["digits", "hsvit_cifar10", "pit_imagenet"], [name for name in NAMES if name != "folder"]),
)
def test_a_recipe_is_complete_and_names_known_things(name):
    values = recipe.plain(load(name))
    assert values["data"] in DATASETS
    channels = values["image_shape"][-1]
    assert len(values["mean"]) == len(values["std"]) == channels
    assert all(0 <= number < 1 for number in values["mean"])
    assert all(0 < number <= 1 for number in values["std"])
    model = build_model(values, tuple("abcdefg"))
    assert 7 in [output.shape[-1] for output in model.outputs]
    description = description_of(model)
    assert (description.data_set, description.input_range) == (values["data"], (0, 255))
    assert description.class_names == tuple("abcdefg")
    Augmentation(values["augmentation"], task_named(description.task), 7)


@pytest.mark.parametrize("name", [*PAPER, "hsvit_imagenet"])
def test_the_recipe_of_the_paper_is_in_each_of_its_configs(name):
    config = load(name)
    assert (config.batch_size, config.epochs) == (512, 300)
    assert (config.learning_rate, config.weight_decay) == (1e-3, 0.01)
    assert (config.warmup_epochs, config.label_smoothing) == (0, 0.0)


IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@pytest.mark.parametrize(
    ("name", "mean", "std"),
    [
        ("hsvit_fashion_mnist", (0,), (1,)),
        ("hsvit_cifar10", (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)),
        ("hsvit_cifar100", (0.5071, 0.4867, 0.4408), (0.2675, 0.2565, 0.2761)),
        ("hsvit_tiny_imagenet", *IMAGENET),
        ("hsvit_food101", *IMAGENET),
        ("hsvit_imagenet", *IMAGENET),
    ],
)
def test_pixels_are_normalized_as_in_the_authors_program(name, mean, std):
    config = load(name)
    assert (config.mean, config.std) == (mean, std)


@pytest.mark.parametrize("name", PAPER)
def test_the_model_of_a_recipe_has_the_size_that_the_authors_program_gives_it(name):
    data, image_shape = PAPER[name]
    config = load(name)
    assert config.image_shape == image_shape
    table = json.loads((ROOT / "tests/reference/param_counts.json").read_text())["hsvit"]["rows"]
    row = next(row for row in table if row["dataset"] == data and row["model"] == "HSViT-C2A2")
    model = build_model(recipe.plain(config), names(row["classes"]))
    assert sum(math.prod(weight.shape) for weight in model.trainable_weights) == row["trainable"]


def distilling(**changes):
    """The change of a config that changes its distillation."""
    return {"distillation": {**digits.get_config().distillation.to_dict(), **changes}}


def changed(**changes):
    config = digits.get_config()
    for key, value in changes.items():
        config[key] = value
    return config


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"lerning_rate": 1.0}, "unknown key 'lerning_rate'; did you mean 'learning_rate'"),
        ({"batch_size": 0}, "config.batch_size has to be an integer from 1 to 1000000; received 0"),
        ({"epochs": 0}, "config.epochs"),
        ({"learning_rate": -1.0}, "config.learning_rate has to be a number above 0"),
        ({"learning_rate": float("nan")}, "config.learning_rate has to be a number above 0"),
        ({"weight_decay": -0.1}, "config.weight_decay"),
        ({"label_smoothing": 1.0}, r"config.label_smoothing has to be a number in \[0, 1\)"),
        ({"warmup_epochs": 15}, "less than epochs; received warmup_epochs=15, epochs=15"),
        ({"seed": -1}, "config.seed"),
        ({"epochs": True}, "config.epochs has to be an integer"),
        ({"optimizer": "adma"}, "config.optimizer has to be one of adamw, adam, sgd; received 'adma'"),
        ({"schedule": "linear"}, "config.schedule has to be one of cosine, cosine_by_epoch, step_decay"),
        ({"clip_norm": 0.0}, "config.clip_norm has to be a number above 0, or None; received 0.0"),
        ({"ema_momentum": 1.0}, r"config.ema_momentum has to be a number in \[0, 1\), or None; received 1.0"),
        ({"decay_epochs": (0,)}, r"config.decay_epochs has to be a sequence of integers .* received \[0\]"),
        ({"min_learning_rate": 1.0}, "config.min_learning_rate has to be at most learning_rate; received"),
        ({"warmup_learning_rate": 1.0}, "config.warmup_learning_rate has to be at most learning_rate"),
        ({"image_shape": (32, 32)}, r"config.image_shape has to be \(height, width, channels\), three"),
        ({"std": (0.0,)}, r"config.std has to be a sequence of numbers above 0, or None; received \[0.0\]"),
        (
            {"distillation": {"alhpa": 1}},
            "config.distillation has an unknown key 'alhpa'; did you mean 'alpha'",
        ),
        (distilling(alpha=2), r"config.distillation.alpha has to be a number in \[0, 1\]"),
        (distilling(teacher_input_range=(1, 1)), "config.distillation.teacher_input_range has to be two"),
        ({"distillation": {"alpha": 1}}, "config.distillation has no 'teachers'"),
        (
            distilling(teachers="a.onnx"),
            "config.distillation.teachers has to be a sequence of paths",
        ),
        ({"distillation": None}, "config.distillation has to be a table of settings; received None"),
        ({"validation": "tset"}, "config.validation has to be a share .* or 'test'; received 'tset'"),
        ({"validation": {"share": 1.0, "seed": 0}}, "config.validation has to be a share between 0 and 1"),
        ({"validation": {"share": 0.1}}, "config.validation has to be a share"),
        ({"views": 0}, "config.views has to be an integer from 1 to 1000; received 0"),
        (
            {"evaluation_crop": {"share": 0}},
            "evaluation_crop.*share has to be a number, more than 0.*received 0",
        ),
        ({"evaluation_crop": {"shar": 1}}, "evaluation_crop has to be a dict of share and interpolation"),
        ({"dtype": "float61"}, "config.dtype has to be one of float32, mixed_bfloat16, mixed_float16"),
    ],
)
def test_a_wrong_value_is_named(changes, words):
    with pytest.raises(ValueError, match=words):
        recipe.plain(changed(**changes))


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"batch_size": 2.5}, "config.batch_size has to be an integer from 1 to 1000000; received 2.5"),
        ({"learning_rate": "0.1"}, "config.learning_rate has to be a number above 0 .*; received '0.1'"),
        ({"nesterov": 1}, "config.nesterov has to be True or False; received 1"),
        ({"model": 3}, "config.model has to be a name; received 3"),
        ({"mean": 0.5}, "config.mean has to be a sequence of numbers, or None; received 0.5"),
        ({"validation": {"share": "a", "seed": 0}}, "config.validation has to be a share"),
    ],
)
def test_a_value_of_another_type_is_named_where_the_table_is_not_ours(changes, words):
    """A `ConfigDict` keeps the types that its values had at first."""
    with pytest.raises(ValueError, match=words):
        recipe.plain(ConfigDict({**recipe.plain(digits.get_config()), **changes}))


def test_a_missing_key_is_named():
    config = digits.get_config()
    del config.std
    with pytest.raises(ValueError, match="no 'std'"):
        recipe.plain(config)


def test_no_config_is_named():
    with pytest.raises(ValueError, match="--config is needed"):
        recipe.plain(None)


def test_plain_values_survive_json_and_keep_the_order_of_augmentation():
    values = recipe.plain(digits.get_config())
    assert json.loads(json.dumps(values)) == values
    assert [name for name, _ in values["augmentation"]] == [
        "RandomTranslation",
        "RandomRotation",
        "RandomZoom",
    ]


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"model": "hsvit_tony"}, "no model 'hsvit_tony'; did you mean 'hsvit_tiny'"),
        (
            {"model_arguments": {"dept": 3}},
            "config.model_arguments: .*no argument 'dept'; did you mean 'depth'",
        ),
        ({"model_arguments": {"attention_groups": 5}}, "attention_groups has to divide"),
        ({"image_shape": (2, 2, 1)}, "the image is too small"),
    ],
)
def test_a_model_that_cannot_be_is_named(changes, words):
    with pytest.raises(ValueError, match=words):
        build_model(recipe.plain(changed(**changes)), names(10))


def test_differences_names_nested_keys():
    one, other = recipe.plain(digits.get_config()), recipe.plain(changed(epochs=3))
    other["model_arguments"]["depth"] = 3
    assert recipe.differences(one, other) == [("epochs", 15, 3), ("model_arguments.depth", None, 3)]
    assert recipe.differences(one, one) == []


@pytest.mark.slow
def test_another_family_with_its_own_arguments_trains_from_the_command_line(tmp_path):
    arguments = {
        "patch_size": 4, "patch_stride": 2, "depths": "(1, 1)", "num_heads": "[1, 2]", "head_dims": "(4, 4)",
        "mlp_ratio": 1.5, "distilled": "True",
    }  # fmt: skip
    call(
        train, f"--workdir={tmp_path}", "--config=training/configs/digits.py", "--config.model=pit_ti",
        "--config.image_shape=(8, 8, 1)", "--config.epochs=1", "--config.batch_size=200",
        "--config.validation.share=0.2", "--config.augmentation=()",
        *(f"--config.model_arguments.{name}={value}" for name, value in arguments.items()),
    )  # fmt: skip
    model = keras.models.load_model(tmp_path / "best.keras")
    assert isinstance(model, hsvit_keras.PoolingTransformer)
    assert (model.patch_size, model.depths, model.num_heads, model.head_dims) == (4, (1, 1), (1, 2), (4, 4))
    assert (model.mlp_ratio, model.distilled, model.output_shape) == (1.5, True, (None, 10))
    assert json.loads((tmp_path / "config.json").read_text())["model_arguments"]["depths"] == [1, 1]
    assert json.loads((tmp_path / "summary.json").read_text())["validation"]["part"] == "train, 20 %, seed 0"


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"depths": (1, 1)}, "depths, num_heads, head_dims need one number for each stage"),
        ({"depth": 3}, "config.model_arguments: pit_ti has no argument 'depth'; did you mean 'depths'"),
        ({"dtype": "float32"}, "config.model_arguments: .*'dtype'"),
    ],
)
def test_arguments_that_another_family_does_not_take(arguments, words):
    values = recipe.plain(changed(model="pit_ti", model_arguments=arguments))
    with pytest.raises(ValueError, match=words):
        build_model(values, names(10))


# What the papers state: batch, epochs, learning rate, decay of weights, epochs of warm-up.
STATED = {
    "deit_imagenet": (1024, 300, 1e-3, 0.05, 5),
    "pit_imagenet": (1024, 300, 1e-3, 0.05, 5),
    "hvt_imagenet": (1024, 300, 5e-4, 0.025, 5),
    "hvt_cifar100": (128, 300, 1.25e-4, 0.025, 5),
    "dhvt_imagenet": (512, 300, 5e-4, 0.05, 10),
    "dhvt_cifar100": (512, 300, 1e-3, 0.05, 5),
    "dhvt_finetuning_cifar100": (256, 100, 5e-4, 1e-8, 2),
    "xformer_cifar10": (64, 40, 1e-3, 0.01, 0),
    "xformer_tiny_imagenet": (64, 40, 1e-3, 0.01, 0),
}
# What their programs have: schedule, learning rates of warm-up and end, clipping, whether kernels alone
# decay, stochastic depth, whether teachers give hard labels.
DEIT = ("cosine_by_epoch", 1e-6, 1e-5, None, True, 0.1, True)
PROGRAMS = {
    **{name: DEIT for name in STATED},
    **{
        f"xformer_{data}": ("step_decay", 0, 0, None, False, None, False)
        for data in ("cifar10", "tiny_imagenet")
    },
    **{name: ("cosine_by_epoch", 0, 0, 0.01, False, None, False) for name in (*PAPER, "hsvit_imagenet")},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_optimization_of_the_authors_programs(name):
    config = load(name)
    found = (
        config.schedule, config.warmup_learning_rate, config.min_learning_rate, config.clip_norm,
        config.decay_kernels_only, config.model_arguments.get("stochastic_depth_rate"),
        config.distillation.hard,
    )  # fmt: skip
    assert found == PROGRAMS[name]
    assert (config.optimizer, config.epsilon, config.ema_momentum) == ("adamw", 1e-8, None)
    assert (config.distillation.alpha, len(config.decay_epochs)) == (0.5, 0)


def test_the_demo_is_optimized_as_before():
    config, usual = load("digits"), hsvit_base.optimization()
    assert {name: config[name] for name in usual} == ConfigDict(usual).to_dict()


@pytest.mark.parametrize("name", STATED)
def test_the_recipes_of_the_other_papers(name):
    config = load(name)
    found = config.batch_size, config.epochs, config.learning_rate, config.weight_decay, config.warmup_epochs
    assert found == STATED[name]
    assert name.endswith(f"_{config.data}")


MIXING = ("MixUpOrCutMix", {"mixup_alpha": 1.0, "cutmix_alpha": 1.0, "cutmix_chance": 0.5})
CROP = {"area": [0.08, 1.0], "aspect": [3 / 4, 4 / 3], "interpolation": "bicubic"}
FLIP = ("RandomFlip", {"mode": "horizontal"})


def augmentation(name):
    return [tuple(entry) for entry in recipe.plain(load(name))["augmentation"]]


@pytest.mark.parametrize("name", PAPER)
def test_hsvit_is_augmented_as_its_program_does(name):
    """RandAugment of torchvision with its defaults, then CutMix or MixUp; no flip and no crop."""
    randaugment = ("RandAugment", {"num_ops": 2, "magnitude": 9, "interpolation": "nearest"})
    assert augmentation(name) == [randaugment, MIXING]
    assert load(name).views == 1 and load(name).evaluation_crop.share == 1.0


def test_hsvit_on_imagenet_is_augmented_as_its_program_does():
    crop, flip, trivial, erasing, mixing = augmentation("hsvit_imagenet")
    assert crop == ("RandomResizedCrop", {**CROP, "interpolation": "bilinear"})
    assert (flip, trivial, mixing) == (FLIP, ("TrivialAugmentWide", {"interpolation": "bilinear"}), MIXING)
    assert erasing[0] == "RandomErasing"


@pytest.mark.parametrize("name", [name for name in STATED if not name.startswith("xformer")])
def test_the_others_are_augmented_as_deit_is(name):
    """Cropped, flipped, RandAugment, erased in the colours of the set, mixed; small images are shifted."""
    config, (crop, *rest) = load(name), augmentation(name)
    is_cropped = config.image_shape[0] > 32
    assert crop == ("RandomResizedCrop", CROP) if is_cropped else crop[0] == "RandomTranslation"
    assert rest == [
        FLIP,
        (
            "RandAugmentIncreasing",
            {
                "num_ops": 2, "magnitude": 9, "magnitude_std": 0.5, "chance": 0.5, "interpolation": "bicubic",
                "fill": [round(255 * mean) for mean in config.mean],
            },
        ),
        (
            "RandomErasing",
            {
                "chance": 0.25, "area": [0.02, 1 / 3], "aspect": [0.3, 1 / 0.3], "mean": [*config.mean],
                "std": [*config.std],
            },
        ),
        (MIXING[0], {**MIXING[1], "mixup_alpha": 0.8}),
    ]  # fmt: skip
    assert config.views == 3
    assert config.evaluation_crop.share == (0.875 if is_cropped else 1.0)


def test_all_recipes_are_of_a_paper_or_for_own_images():
    ours = {"digits", "digits_segmentation", "digits_detection", "digits_video", "detection_folder", "folder"}
    assert set(NAMES) == {*PAPER, "hsvit_imagenet", *STATED, "detr_coco", "timesformer_kinetics", *ours}


def test_the_recipe_of_detection_on_coco():
    config = load("detr_coco")
    assert (config.optimizer, config.epochs, config.learning_rate, config.weight_decay) == (
        "adam",
        50,
        2e-4,
        1e-4,
    )
    assert (config.schedule, config.decay_epochs, config.decay_factor) == ("step_decay", (40,), 0.1)


def test_the_recipe_of_kinetics():
    """Appendix C of the scaling paper; PyTorch's weight decay of 1e-4 by what its SGD makes of it."""
    config = load("timesformer_kinetics")
    assert (config.image_shape, config.batch_size, config.epochs) == ((8, 224, 224, 3), 16, 15)
    assert (config.optimizer, config.learning_rate, config.momentum) == ("sgd", 0.005, 0.9)
    assert (config.schedule, config.decay_epochs, config.decay_factor) == ("step_decay", (10, 14), 0.1)
    assert config.weight_decay * (1 - config.momentum) == pytest.approx(1e-4)
    assert augmentation("timesformer_kinetics") == [("RandomShorterSide", {"sides": [256, 320]}), FLIP]


def test_tiny_imagenet_gives_x_formers_the_sequence_of_the_paper():
    model = build_model(recipe.plain(load("xformer_tiny_imagenet")), names(200))
    assert model.get_layer("class_token").output.shape[1] == 1 + 1024
    assert sum(math.prod(weight.shape) for weight in model.trainable_weights) == next(
        row["trainable"]
        for row in json.loads((ROOT / "tests/reference/param_counts.json").read_text())["vix"][
            "table2_tiny_imagenet"
        ]
        if row["model"] == "HybridViN"
    )


@pytest.mark.parametrize(
    "argument, words",
    [
        ("--config.epohs=3", "unknown key 'epohs'; did you mean 'epochs'"),
        (
            "--config.model_arguments.dept=3",
            "config.model_arguments: hsvit_tiny has no argument 'dept'; did you mean 'depth'",
        ),
        ("--config.validation=tset", "config.validation has to be a share .* or 'test'; received 'tset'"),
    ],
)
def test_a_typo_on_the_command_line_is_named(argument, words, tmp_path):
    with pytest.raises(InputError, match=words):
        call(train, f"--workdir={tmp_path / 'run'}", "--config=training/configs/digits.py", argument)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "argument, message",
    [
        ("--workdir=run", "--config is needed: a file such as training/configs/digits.py"),
        ("--config=training/configs/digits.py", "--workdir is needed: the folder of the run"),
    ],
)
def test_a_flag_that_is_needed(argument, message):
    with pytest.raises(InputError, match=message):
        call(train, argument)
