"""Every optional argument of the authors' programs makes a difference, or is refused with another value."""

import math

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.checkpoints import attention, importing
from hsvit_runtime.errors import InputError
from tests import reference


def changed(case):
    fixture, *pairs = case
    config = {**reference.load(fixture)["config"], **dict(zip(pairs[::2], pairs[1::2], strict=True))}
    architecture = fixture.removesuffix("_p4").removesuffix("_m1")
    return importing._FAMILIES[architecture].build(architecture, config, None)


def name_of(case):
    return f"{case[0]} {case[1]}"


# (fixture, argument, another value) -> what the model says of itself then.
TAKEN = {
    ("cct", "n_conv_layers", 2, "stride", 2): ("strides", (2, 2)),
    ("cct", "kernel_size", 5, "padding", 2): ("kernel_size", 5),
    ("cct", "stride", (2, 1, 1)): ("strides", (2, 1, 1)),
    ("cct", "pooling_kernel_size", 5, "pooling_padding", 2): ("pool_size", 5),
    ("cct", "pooling_stride", 2): ("pool_stride", 2),
    ("cct", "mlp_ratio", 3): ("mlp_ratio", 3),
    ("cct", "dim_head", 6): ("head_dim", 6),
    ("ccp", "nb_features", 7): ("attention_arguments", {"num_features": 7}),
    ("ccp", "generalized_attention", True): ("attention_arguments", {"kernel": "relu"}),
    ("ccp", "local_attn_heads", 1): ("attention_arguments", {"local_heads": 1}),
    ("ccp", "local_window_size", 16): ("attention_arguments", {"window_size": 16}),
    ("ccp", "qkv_bias", False): ("qkv_bias", False),
    ("cvp", "qkv_bias", False): ("qkv_bias", False),
    ("cvp", "dropout", 0.2): ("dropout_rate", 0.2),
    ("cvp", "dim_head", 6): ("head_dim", 6),
    ("cvp", "image_size", 16): ("input_shape", (None, 16, 16, 3)),
    ("efficientnet", "last_channel", 40): ("head_filters", 40),
    ("efficientnet", "batch_norm_eps", 1e-3): ("batch_norm_epsilon", 1e-3),
    ("mobilenet_v2", "round_nearest", 4): ("filters", (12, 20, 20, 24)),  # 1.4 times 9, 13, 13 and 18
    ("deit", "mlp_ratio", 3): ("mlp_dim", 3 * 16),
    ("deit", "qkv_bias", False): ("qkv_bias", False),
    ("deit", "distilled", True): ("distilled", True),
    ("deit", "norm_eps", 1e-3): ("layer_norm_epsilon", 1e-3),
    ("deit", "in_chans", 1): ("input_shape", (None, 32, 32, 1)),
    ("dhvt_p4", "mlp_ratio", 3): ("mlp_dim", 3 * 16),
    ("dhvt_p4", "qkv_bias", False): ("qkv_bias", False),
    ("dhvt_p4", "norm_eps", 1e-3): ("layer_norm_epsilon", 1e-3),
    ("dhvt_p4", "in_chans", 1): ("input_shape", (None, 16, 16, 1)),
    ("cvt_microsoft", "act_layer", "GELU"): ("activation", "gelu"),
    ("efficientformer", "mlp_ratios", 4): ("mlp_ratio", 4),
    ("efficientformer", "num_classes", 7): ("num_classes", 7),
    ("efficientformer", "distillation", False): ("distilled", False),
    ("efficientformer", "vit_num", 2): ("transformer_depth", 2),
    ("efficientformer", "pool_size", 5): ("pool_size", 5),
    ("fnet2d", "dropout", 0.2): ("dropout_rate", 0.2),
    ("fnet2d", "mlp_mult", 3): ("mlp_ratio", 3),
    ("hvt_m1", "mlp_ratio", 3): ("mlp_dim", 3 * 16),
    ("hvt_m1", "qkv_bias", False): ("qkv_bias", False),
    ("hvt_m1", "norm_eps", 1e-3): ("layer_norm_epsilon", 1e-3),
    ("hvt_m1", "pool_stride", 3): ("pool_size", 3),  # without effect in the authors' program, too
    ("hvt_m1", "in_chans", 1): ("input_shape", (None, 32, 32, 1)),
    ("levit", "dim_key", 8): ("head_dim", 8),
    ("levit", "dim_value", 8): ("value_dim", 8),
    ("levit", "dim_head", 8): ("head_dim", 8),
    ("levit", "embedding_strides", (2, 1, 1)): ("embedding_stride", 2),
    ("levin", "num_landmarks", 4): ("attention_arguments", {"num_landmarks": 4}),
    ("levin", "pinv_iterations", 4): ("attention_arguments", {"iterations": 4}),
    ("levin", "residual_conv_kernel", 3): ("attention_arguments", {"residual_kernel": 3}),
    ("levip", "qkv_bias", False): ("qkv_bias", False),
    ("mlp_mixer", "channels", 1): ("input_shape", (None, 8, 8, 1)),
    ("mlp_mixer", "expansion_factor", 2): ("expansion", 2),
    ("mobilevit", "conv_1_out_channels", 8): ("filters", (8, 10, 12, 16, 18, 20)),
    ("swiftformer", "mlp_ratios", 4): ("mlp_ratio", 4),
    ("swiftformer", "num_classes", 7): ("num_classes", 7),
    ("swiftformer", "distillation", False): ("distilled", False),
    ("pit", "distilled", True): ("distilled", True),
    ("pit", "in_chans", 1): ("input_shape", (None, 32, 32, 1)),
    ("timesformer_divided", "mlp_ratio", 2): ("mlp_dim", 2 * 12),
    ("timesformer_divided", "qkv_bias", False): ("qkv_bias", False),
    ("timesformer_divided", "norm_eps", 1e-3): ("layer_norm_epsilon", 1e-3),
    ("timesformer_divided", "in_chans", 1): ("input_shape", (None, 4, 8, 16, 1)),
    ("pix_pip", "channels", 1): ("input_shape", (None, 8, 8, 1)),
    ("pix_pip", "dim_head", 6): ("head_dim", 6),
    ("pix_pip", "qkv_bias", False): ("qkv_bias", False),
    ("vil", "k", 5): ("attention_arguments", {"projected_tokens": 5}),
    ("vil", "one_kv_head", False): ("shared_key_head", False),
    ("vip", "qkv_bias", False): ("qkv_bias", False),
    ("vip", "channels", 1): ("input_shape", (None, 8, 8, 1)),
}


# The same -> (layer, attribute, value) of a model of maps, which has no arguments.
IN_LAYERS = {
    ("deformable_detr", "backbone_channels", (8, 10)): ("map0", "batch_shape", (None, 8, 12, 8)),
    ("deformable_detr", "padded_image_size", (32, 64), "image_sizes", None): (
        "map0", "batch_shape", (None, 4, 8, 6),
    ),
    ("deformable_detr", "group_norm_groups", 16): ("level0_norm", "groups", 16),
    ("ms_deform_attn", "valid_hw", None): ("attention", "valid_sizes", None),
    ("deformable_detr", "dropout", 0.1): ("encoder0_mlp_hidden_dropout", "rate", 0.1),
}  # fmt: skip


# The same -> the error.
REFUSED = {
    ("cvt_microsoft", "norm_eps", 1e-6): "norm_eps 1e-05; received .*norm_eps=1e-06",
    ("swiftformer", "vit_num", 2): "one block of attention a stage; received vit_num=2",
    ("cct", "padding", 0): "padding has to be half the kernel, 1; received padding=0",
    ("cct", "pooling_padding", 0): "pooling_padding has to be half the kernel, 1; received pooling_padding=0",
    ("cct", "positional_embedding", "sine"): "positional_embedding has to be 'learnable'; received 'sine'",
    ("cct", "n_conv_layers", 2): r"stride has to have n_conv_layers, 2, entries; received stride=\[1, 1, 1\]",
    ("cct", "nb_features", 5): "attention 'softmax' has no nb_features; received nb_features=5",
    ("ccp", "k", 8): "attention 'performer' has no k; received k=8",
    (
        "timesformer_divided",
        "attention_type",
        "joint_space_time",
    ): "has attention_type='divided_space_time'; rec",
    ("vip", "attn_out_bias", False): "attn_out_bias has to be True, .*; received False",
    ("vil", "share_kv", False): "share_kv has to be True, .*; received False",
    ("vil", "qkv_bias", True): "attention 'linformer' has no qkv_bias",
    ("vin", "padded_length", 71): "padded_length of 65 tokens has to be 72; received 71",
    ("vit", "num_landmarks", 8): "attention 'softmax' has no num_landmarks",
    ("deformable_detr", "two_stage", True): "two_stage has to be False",
    ("dhvt_p4", "apply_dhvt", False): "without apply_dhvt .* received apply_dhvt=False",
    ("levit", "stages", 3): "stages has to be 1, as in the paper; received stages=3",
    ("levit", "embedding_strides", (1, 2, 1)): r"embedding_strides have to be 1 .*=\(1, 2, 1\)",
    ("levip", "dim_value", 8): "only softmax attention .*; received value_dim=8, attention='performer'",
}


@pytest.mark.once
@pytest.mark.parametrize("case", TAKEN, ids=name_of)
def test_what_is_taken(case):
    name, expected = TAKEN[case]
    found = getattr(changed(case), name)  # as `get_config` says it
    if isinstance(expected, dict):
        assert expected.items() <= found.items()
    else:
        assert found == expected


@pytest.mark.once
@pytest.mark.parametrize("case", IN_LAYERS, ids=name_of)
def test_what_a_layer_takes(case):
    layer, attribute, expected = IN_LAYERS[case]
    assert getattr(changed(case).get_layer(layer), attribute) == expected


@pytest.mark.once
def test_sizes_of_images_with_padding():
    positions = changed(("deformable_detr", "image_sizes", [[32, 96], [64, 96]])).get_layer("positions")
    assert positions.valid_sizes[0][0] == (4, 12)


@pytest.mark.once
def test_another_backbone_is_refused():
    config = dict(reference.load("deformable_detr")["config"], backbone="resnet101")
    del config["backbone_channels"]
    with pytest.raises(InputError, match="backbone has to be 'resnet50'; received 'resnet101'"):
        importing._FAMILIES["deformable_detr"].build("deformable_detr", config, None)


@pytest.mark.once
@pytest.mark.parametrize("case", REFUSED, ids=name_of)
def test_what_is_refused(case):
    with pytest.raises(InputError, match=REFUSED[case]):
        changed(case)


@pytest.mark.once
def test_every_optional_argument_is_here():
    """Arguments of attention once, since one piece reads them for all families."""
    by_itself = {"attention", "backbone"}
    cases = (*TAKEN, *IN_LAYERS, *REFUSED)
    tried = by_itself | {name for case in cases for name in case[1::2]}
    assert {name for family in importing._MODULES for name in family.OPTIONAL} <= tried
    for family in importing._MODULES:
        of_family = by_itself | {
            name
            for case in cases
            if importing._FAMILIES.get(case[0].removesuffix("_p4").removesuffix("_m1")) is family
            for name in case[1::2]
        }
        assert set(family.OPTIONAL) - set(attention.SETTINGS) <= of_family, family.__name__


def test_attention_of_efficientformer():
    sizes = {"key_dim": 8, "num_heads": 3, "attn_ratio": 3, "resolution": 4}
    model = changed(("efficientformer", "attention", sizes))
    assert (model.key_dim, model.num_heads, model.value_ratio) == (8, 3, 3)
    assert model.input_shape == (None, 128, 128, 3)


def test_values_of_levit_with_another_length():
    """The attention of the first block, in NumPy."""
    fixture = reference.load("levit")
    heads, key_dim, value_dim, dim = 4, 4, 6, 16
    of_values = {
        "to_v.0.weight": (heads * value_dim, dim, 1, 1),
        "to_out.1.weight": (dim, heads * value_dim, 1, 1),
    }
    for name in ("weight", "bias", "running_mean", "running_var"):
        of_values[f"to_v.1.{name}"] = (heads * value_dim,)
    for entry in fixture["params"]:
        entry[1] = of_values.get(".".join(entry[0].split(".")[-3:]), entry[1])
    config, weights = {**fixture["config"], "dim_value": value_dim}, reference.weights(fixture)
    model = hsvit_keras.from_torch("levit", config, weights)
    probe = keras.Model(
        model.input, [model.get_layer("map_tokens").output, model.get_layer("block0_attention_add").output]
    )
    tokens, found = map(keras.ops.convert_to_numpy, probe(reference.images(fixture)))

    def projected(x, part, first=0):
        name = f"backbone.0.layers.0.0.to_{part}.{first}"
        norm = f"backbone.0.layers.0.0.to_{part}.{first + 1}"
        y = x @ weights[f"{name}.weight"][:, :, 0, 0].T + weights.get(f"{name}.bias", 0)
        scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + 1e-5)
        return (y - weights[f"{norm}.running_mean"]) * scale + weights[f"{norm}.bias"]

    def split(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    query, key, value = (split(projected(tokens, part)) for part in "qkv")
    scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(key_dim)
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    mixed = (shares @ value).transpose(0, 2, 1, 3).reshape(*tokens.shape[:2], -1)
    gelu = mixed * (1 + np.vectorize(math.erf)(mixed / math.sqrt(2))) / 2
    np.testing.assert_allclose(found, tokens + projected(gelu, "out", 1), atol=2e-6)
