"""The X-former families: counts of the paper, company of a batch, arguments that do not fit."""

import re

import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.layers import ChannelNormalization
from tests import reference
from tests.models.counting import outline
from tests.models.running import outputs

TABLES = reference.load("param_counts")["vix"]
CIFAR = ("table1_cifar10", "table3_cifar10", "table5_pit_cifar10", "table6_rope_cifar10")
TINY_IMAGENET = ("table2_tiny_imagenet", "table4_tiny_imagenet")
# What torchsummary, and so the paper, does not count: parameters that stand in no layer.
BARE = re.compile(r"class_token/|position|attention/projection$")


def variant(name):
    """`"HybridViTRoPE"` of the tables as the name of our variant."""
    name = name.replace(" ", "").lower()
    if name in ("mlpmixer", "hybridmlpmixer"):
        return name.replace("mlpmixer", "_mlp_mixer").removeprefix("_")
    hybrid, kind, rope = re.fullmatch(r"(hybrid)?(.*?)(rope)?", name).groups()
    kind = f"pix_{kind}" if kind in ("pit", "pip", "pin") else kind
    return f"{'hybrid_' if hybrid else ''}{kind}{'_rope' if rope else ''}"


def rows(tables):
    return [
        (variant(row["model"]), row)
        for table in tables
        for row in TABLES[table]
        if isinstance(row, dict) and "model" in row
    ]


def counts(name, **arguments):
    """Trainable parameters, and those that the paper's tool counts."""
    model = outline(name, **arguments)
    sizes = [
        (
            int(np.prod(weight.shape)),
            bool(BARE.search(weight.path)) or isinstance(layer, ChannelNormalization),
        )
        for layer in model.layers
        for weight in layer.trainable_weights
    ]
    return sum(size for size, _ in sizes), sum(size for size, is_bare in sizes if not is_bare)


def as_in_the_paper(name):
    """64 x 64 pixels become 1,024 tokens by patches, or by the stride of the first convolution."""
    if name in ("vit", "vip", "vil", "vin", "fnet", "mlp_mixer"):
        return {"patch_size": 2}
    if name.startswith("cc"):
        return {"strides": (2, 1, 1)}
    if name.startswith("cv"):
        return {"embedding_strides": (2, 1, 1)}
    return {"embedding_stride": 2}


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize(("name", "row"), rows(CIFAR), ids=[name for name, _ in rows(CIFAR)])
def test_counts_on_cifar10(name, row):
    unused = 131_200 if row.get("unused pos_embedding parameter kept in the class") else 0
    arguments = {"shared_key_head": False} if name == "hybrid_vil" else {}  # as in the released file
    trainable, counted = counts(name, **arguments)
    assert trainable == row["trainable"] - unused
    assert counted == row["torchsummary"]


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize(("name", "row"), rows(TINY_IMAGENET), ids=[name for name, _ in rows(TINY_IMAGENET)])
def test_counts_on_tiny_imagenet(name, row):
    arguments = {"shared_key_head": False} if name == "hybrid_vil" else {}
    trainable, counted = counts(
        name, input_shape=(64, 64, 3), num_classes=200, **as_in_the_paper(name), **arguments
    )
    assert trainable == row["trainable"]
    assert counted == row["torchsummary"]


@pytest.mark.once
def test_hybrid_vil_with_one_key_head_has_the_printed_count():
    assert counts("hybrid_vil")[1] == 508_490
    assert counts("hybrid_vil", input_shape=(64, 64, 3), num_classes=200, embedding_stride=2)[1] == 533_000


SMALL = {"input_shape": (8, 8, 3), "num_classes": 5}
TOKENS = {"hidden_dim": 16, "depth": 2, "num_heads": 2, "head_dim": 8}
STAGES = {"hidden_dims": (16, 16), "depths": (1, 1), "num_heads": (2, 2), "head_dim": 8}
STAGES |= {name: (3, 3) for name in ("embedding_kernels", "projection_kernels")}
STAGES |= {name: (1, 1) for name in ("mlp_ratios", "embedding_strides", "key_strides")}
COMPANY = {
    "vip": TOKENS,
    "vin": {**TOKENS, "attention_arguments": {"num_landmarks": 8}},
    "levip": TOKENS,
    "cvn": {**STAGES, "attention_arguments": {"num_landmarks": 8}},
}


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name", COMPANY)
def test_an_image_answers_as_in_any_company(name):
    """Whatever the size of its batch, its place in it, and the other images, extreme ones too."""
    model = hsvit_keras.create_model(name, **SMALL, **COMPANY[name])
    images = np.random.default_rng(0).normal(size=(6, 8, 8, 3)).astype("float32")
    images[3:] *= 30
    alone = np.concatenate([outputs(model, image[None]) for image in images])
    order = np.array([4, 0, 5, 2, 1, 3])
    np.testing.assert_allclose(outputs(model, images), alone, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(outputs(model, images[order]), alone[order], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(outputs(model, images[:2]), alone[:2], rtol=1e-4, atol=1e-5)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name", COMPANY)
def test_the_authors_form_depends_on_the_company(name):
    arguments = dict(COMPANY[name])
    settings = {**arguments.pop("attention_arguments", {}), "batch_maximum": True}
    model = hsvit_keras.create_model(name, **SMALL, **arguments, attention_arguments=settings)
    for weight in model.weights:
        if weight.path.endswith(("query/kernel", "key/kernel")):
            weight.assign(2 * weight)  # the attention of fresh weights is nearly even
    images = np.random.default_rng(0).normal(size=(4, 8, 8, 3)).astype("float32")
    alone = np.concatenate([outputs(model, image[None]) for image in images])
    assert np.abs(outputs(model, images) - alone).max() > 1e-4


WRONG = {
    "kind": ("vit", {"attention": "sotfmax"}, "attention has to be one of 'softmax'.*'sotfmax'"),
    "patch": ("vit", {"patch_size": 3}, r"patch_size=3, input_shape=\(8, 8, 3\)"),
    "patch of convolutions": ("hybrid_vit", {"patch_size": 2}, "patch_size=2"),
    "embedding": ("vit", {"embedding": "pixels"}, "embedding='pixels'"),
    "landmarks": ("vin", {"attention_arguments": {"num_landmarks": 66}}, "num_landmarks=66, 65 tokens"),
    "no landmarks": ("vin", {"attention_arguments": {"num_landmarks": 0}}, "num_landmarks=0"),
    "length of Linformer": ("vil", {"attention_arguments": {"projected_tokens": 0}}, "projected_tokens=0"),
    "even kernel of the values": (
        "vin",
        {"attention_arguments": {"num_landmarks": 8, "residual_kernel": 4}},
        "residual_kernel has to be odd; received residual_kernel=4",
    ),
    "unknown setting": (
        "cvp",
        {"attention_arguments": {"num_feature": 8}},
        "attention_arguments of 'performer' can be num_features, .*unknown: num_feature",
    ),
    "setting of another kind": (
        "levit",
        {"attention_arguments": {"num_landmarks": 8}},
        "of 'softmax' can be dropout_rate, scale; .*num_landmarks",
    ),
    "setting that is needed": ("cct", {"attention": "linformer"}, "missing: projected_tokens; unknown: none"),
    "settings of Fourier": ("fnet", {"attention_arguments": {"num_landmarks": 8}}, "'fourier' can be none; "),
    "settings of convolutions": ("cvt", {"attention_arguments": {"dropout_rate": 0.1}}, "has no further arg"),
    "settings in a list": (
        "vin",
        {"attention_arguments": ["num_landmarks", 8]},
        "has to be a dict; received",
    ),
    "dropout of weights": ("cct", {"attention_arguments": {"dropout_rate": 1.0}}, "dropout_rate=1.0"),
    "shared keys": ("vit", {"shared_key_head": True}, "shared_key_head=True, attention='softmax'"),
    "rotary Fourier": ("fnet", {"rotary": True}, "no queries and keys to rotate"),
    "odd rotary head": ("vit_rope", {"head_dim": 5}, "head_dim has to be even; received head_dim=5"),
    "heads": ("pix_pit", {"num_heads": 0}, "num_heads=0"),
    "stride of patches": ("pix_pit", {"embedding_stride": 2}, "embedding_stride=2"),
    "stages of heads": ("cvp", {"num_heads": (4, 4)}, r"num_heads=\(4, 4\)"),
    "one stage": ("pix_pit", {"depths": 2}, "depths has to be a sequence of integers, one a stage; received"),
    "strides": ("cct", {"strides": 2}, "strides has to be a sequence of integers, one a stage; .*strides=2"),
    "even kernel of a stage": ("cvt", {"embedding_kernels": (3, 2, 3)}, "embedding_kernels=2"),
    "no stride": ("levit", {"embedding_stride": 0}, "embedding_stride=0"),
    "kernel": ("vip", {"attention_arguments": {"kernel": "elu"}}, "kernel='elu'"),
    "local heads": ("vip", {"attention_arguments": {"local_heads": 4}}, "local_heads=4, num_heads=4"),
    "stages": ("cvt", {"depths": (1, 1)}, r"depths=\(1, 1\)"),
    "even kernel": ("cct", {"kernel_size": 2}, "kernel_size=2"),
    "no classes": ("levit", {"num_classes": 0}, "num_classes=0"),
    "no depth": ("mlp_mixer", {"depth": 0}, "depth=0"),
    "dropout": ("fnet2d", {"dropout_rate": 1.0}, "dropout_rate=1.0"),
}


@pytest.mark.once
@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_named(case):
    name, arguments, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        hsvit_keras.create_model(name, **{**SMALL, **arguments})


def test_linformer_refuses_another_length():
    layer = hsvit_keras.layers.LinformerAttention(2, 4)
    tokens = np.zeros((1, 6, 8), "float32")
    layer(tokens, tokens, tokens)
    with pytest.raises(ValueError, match="built for 6 tokens; received 5 keys"):
        layer(tokens[:, :5], tokens[:, :5], tokens[:, :5])
