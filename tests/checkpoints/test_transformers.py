"""`from_transformers` on folders that hold what the library writes, and on whatever does not fit."""

import functools
import json

import keras
import numpy as np
import pytest
from safetensors.numpy import save_file

import hsvit_keras
from hsvit_keras.layers.model_description import description_of
from hsvit_runtime.resizing import Resizing
from tests import reference
from tests.checkpoints import test_reading as pickles
from tests.models.running import outputs


def channels_first(maps):
    return maps.transpose(0, 3, 1, 2)


def mean_map(features):
    return features[..., None, None]


# A fixture -> the library's module -> our layer; and what brings its output into that layout.
LAYERS = {
    "hf_resnet_basic": {
        "resnet.embedder.embedder": "stem_conv_relu",
        "resnet.embedder.pooler": "stem_pool",
        "resnet.encoder.stages.0.layers.0": "stage0_block0_relu",
        "resnet.encoder.stages.0": "stage0_block1_relu",
        "resnet.encoder.stages.1": "stage1_block0_relu",
        "resnet.encoder.stages.2": "stage2_block0_relu",
        "resnet.encoder.stages.3": "stage3_block1_relu",
    },
    "hf_resnet_bottleneck": {
        "resnet.embedder.embedder": "stem_conv_relu",
        "resnet.embedder.pooler": "stem_pool",
        "resnet.encoder.stages.0.layers.0": "stage0_block0_relu",
        "resnet.encoder.stages.0": "stage0_block0_relu",
        "resnet.encoder.stages.1": "stage1_block1_relu",
        "resnet.encoder.stages.2": "stage2_block0_relu",
        "resnet.encoder.stages.3": "stage3_block0_relu",
    },
    "hf_mobilenet_v2": {
        "mobilenet_v2.conv_stem.first_conv": "stem_conv_relu6",
        "mobilenet_v2.conv_stem": "stage0_block0_project_norm",
        "mobilenet_v2.layer.0": "stage1_block0_project_norm",
        "mobilenet_v2.layer.1": "stage1_block1_add",
        "mobilenet_v2.layer.2": "stage2_block0_project_norm",
        "mobilenet_v2.layer.5": "stage3_block0_project_norm",
        "mobilenet_v2.layer.6": "stage3_block1_add",
        "mobilenet_v2.layer.9": "stage4_block0_add",
        "mobilenet_v2.layer.12": "stage5_block0_project_norm",
        "mobilenet_v2.layer.13": "stage5_block1_add",
        "mobilenet_v2.layer.15": "stage6_block0_project_norm",
        "mobilenet_v2.conv_1x1": "head_conv_relu6",
    },
    "hf_efficientnet": {
        "efficientnet.embeddings": "stem_conv_silu",
        "efficientnet.encoder.blocks.0": "stage0_block0_project_norm",
        "efficientnet.encoder.blocks.1": "stage0_block1_add",
        "efficientnet.encoder.blocks.2": "stage1_block0_project_norm",
        "efficientnet.encoder.blocks.3": "stage1_block1_add",
        "efficientnet.encoder.blocks.4": "stage2_block0_project_norm",
        "efficientnet.encoder.blocks.5": "stage2_block1_add",
        "efficientnet.encoder.blocks.6": "stage3_block0_project_norm",
        "efficientnet.encoder.blocks.7": "stage3_block1_add",
        "efficientnet.encoder.top_activation": "head_conv_silu",
        "efficientnet.pooler": "mean_map",
    },
}
LAYERS["hf_mobilenet_v2_variant"] = LAYERS["hf_mobilenet_v2"]
FAST_ON_JAX = "hf_resnet_basic"
NAMES = [
    pytest.param(name, marks=() if name == FAST_ON_JAX else pytest.mark.slow_on_jax)
    for name in sorted(LAYERS)
]


@functools.cache
def fixture_and_tensors(name):
    """A fixture and the content of its model.safetensors, counters of batch normalization included."""
    fixture = reference.load(name)
    counters = {key: np.zeros(shape, "int64") for key, shape in fixture["constant_buffers"]}
    return fixture, {**reference.weights(fixture), **counters}


def write_folder(folder, name, *, without=(), tensors=(), preprocessor=None, **changes):
    """Writes the checkpoint folder of a fixture.

    Args:
        folder: path.
        name: str, of the fixture.
        without: keys left out of config.json.
        tensors: dict of tensors to add or replace; None removes one.
        preprocessor: dict for preprocessor_config.json, or None for no such file.
        **changes: entries of config.json.
    """
    fixture, whole = fixture_and_tensors(name)
    config = {key: value for key, value in {**fixture["config"], **changes}.items() if key not in without}
    whole = {key: value for key, value in {**whole, **dict(tensors)}.items() if value is not None}
    (folder / "config.json").write_text(json.dumps(config))
    save_file(whole, folder / "model.safetensors")
    if preprocessor is not None:
        (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))
    return fixture


def sides(fixture):
    _, channels, height, width = fixture["input_shape"]
    return height, width, channels


def assert_logits(model, fixture, images=None):
    found = outputs(model, reference.images(fixture) if images is None else images)
    assert np.abs(found - fixture["output_float64"]).max() <= fixture["suggested_atol"]


# ---- equality --------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_answers_and_values_on_the_way(name, tmp_path):
    fixture = write_folder(tmp_path, name)
    model = hsvit_keras.from_transformers(tmp_path, input_shape=sides(fixture))
    assert sum(int(np.prod(w.shape)) for w in model.trainable_weights) == fixture["num_params"]
    probes = [
        model.get_layer(LAYERS[name][checkpoint["module"]]).output for checkpoint in fixture["checkpoints"]
    ]
    logits, *values = outputs(keras.Model(model.input, [model.output, *probes]), reference.images(fixture))
    assert np.abs(logits - fixture["output_float64"]).max() <= fixture["suggested_atol"]
    for checkpoint, value in zip(fixture["checkpoints"], values, strict=True):
        value = channels_first(value) if value.ndim == 4 else mean_map(value)
        assert list(value.shape) == checkpoint["shape"]
        atol = max(3e-6, 1e-5 * checkpoint["std"])
        np.testing.assert_allclose(value.ravel()[:8], checkpoint["first"], rtol=1e-5, atol=atol)
        np.testing.assert_allclose(value.mean(), checkpoint["mean"], rtol=1e-5, atol=atol / 3)
        np.testing.assert_allclose(value.std(), checkpoint["std"], rtol=1e-5)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("mobilenet_v2", "huggingface_transformers"),
        ("efficientnet", "tensorflow_same_padding_and_bn_eps_1e-3"),
    ],
)
def test_variant_of_torchvision_is_told_by_arguments(name, variant):
    """The same weights with the padding and the epsilon of the other program."""
    fixture = reference.load(name)
    model = hsvit_keras.from_torch(
        name, fixture["config"], reference.weights(fixture), input_shape=sides(fixture)
    )
    config = {**model.get_config(), "padding": "same", "batch_norm_epsilon": 1e-3}
    other = type(model).from_config(config)
    other.set_weights(model.get_weights())
    found = outputs(other, reference.images(fixture))
    assert np.abs(found - fixture["output_variants"][variant]).max() <= fixture["suggested_atol"]


# ---- files -----------------------------------------------------------------------------------------
@pytest.mark.once
def test_pickled_weights(tmp_path):
    fixture = write_folder(tmp_path, "hf_resnet_basic")
    _, tensors = fixture_and_tensors("hf_resnet_basic")
    (tmp_path / "model.safetensors").unlink()
    storages = {str(i): array.tobytes() for i, array in enumerate(tensors.values())}
    tree = {}
    for i, (key, array) in enumerate(tensors.items()):
        kind = pickles.name("torch", "FloatStorage" if array.dtype == "float32" else "LongStorage")
        strides = tuple(stride // array.itemsize for stride in array.strides)
        storage = pickles.storage(array.size, str(i), kind)
        tree[key] = pickles.tensor(0, array.shape, strides, storage)
    pickles.write_zip(tmp_path / "pytorch_model.bin", pickles.program(tree), storages)
    assert_logits(hsvit_keras.from_transformers(tmp_path, input_shape=sides(fixture)), fixture)


@pytest.mark.once
def test_weights_in_several_files(tmp_path):
    fixture = write_folder(tmp_path, "hf_resnet_basic")
    _, tensors = fixture_and_tensors("hf_resnet_basic")
    (tmp_path / "model.safetensors").unlink()
    places = {key: f"model-0000{1 + i % 2}-of-00002.safetensors" for i, key in enumerate(tensors)}
    for file in set(places.values()):
        save_file({key: tensors[key] for key in tensors if places[key] == file}, tmp_path / file)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    assert_logits(hsvit_keras.from_transformers(tmp_path, input_shape=sides(fixture)), fixture)


@pytest.mark.once
def test_class_names_are_those_of_the_config(tmp_path):
    labels = {str(i): f"bird {i}" for i in range(5)}
    write_folder(tmp_path, "hf_resnet_basic", id2label=labels)
    model = hsvit_keras.from_transformers(tmp_path)
    assert model.class_names == tuple(labels.values())
    assert model.input_shape == (None, 224, 224, 3)  # the config says nothing


@pytest.mark.once
def test_image_size_of_the_config(tmp_path):
    write_folder(tmp_path, "hf_mobilenet_v2", image_size=[32, 64])
    assert hsvit_keras.from_transformers(tmp_path).input_shape == (None, 32, 64, 3)


@pytest.mark.once
def test_defaults_are_those_of_the_library(tmp_path):
    """Left out are settings that have their default in the fixture."""
    keys = ("downsample_in_bottleneck", "downsample_in_first_stage", "hidden_act", "num_channels")
    fixture = write_folder(tmp_path, "hf_resnet_bottleneck", without=(*keys, "layer_type"))
    assert_logits(hsvit_keras.from_transformers(tmp_path, input_shape=sides(fixture)), fixture)


@pytest.mark.once
@pytest.mark.parametrize(("changes", "classes"), [({}, 2), ({"num_labels": 3}, 3)])
def test_number_of_classes_without_names(tmp_path, changes, classes):
    """The library writes no names for two classes; older files have a number."""
    head = {
        "classifier.1.weight": np.zeros((classes, 17), "float32"),
        "classifier.1.bias": np.zeros(classes, "float32"),
    }
    write_folder(tmp_path, "hf_resnet_basic", without=("id2label", "label2id"), tensors=head, **changes)
    model = hsvit_keras.from_transformers(tmp_path)
    assert model.output_shape == (None, classes)
    assert model.class_names is None


@pytest.mark.slow_on_jax
def test_fresh_head(tmp_path):
    fixture = write_folder(tmp_path, "hf_efficientnet")
    whole = hsvit_keras.from_transformers(tmp_path)
    model = hsvit_keras.from_transformers(tmp_path, num_classes=11)
    assert model.output_shape == (None, 11)
    assert model.class_names is None
    for layer in whole.layers:
        if layer.weights and layer.name != "head":
            found = model.get_layer(layer.name).get_weights()
            assert all(map(np.array_equal, found, layer.get_weights()))
    kept = hsvit_keras.from_transformers(tmp_path, num_classes=5, input_shape=sides(fixture))
    assert_logits(kept, fixture)


# ---- pixels ----------------------------------------------------------------------------------------
IMAGES = {"do_normalize": True, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}


@pytest.mark.slow_on_jax
def test_pixels(tmp_path):
    """Normalized by the model, they are the fixture's images; their size is the cropped one."""
    name = "hf_mobilenet_v2"
    height, width, _ = sides(reference.load(name))
    sizes = {"size": {"shortest_edge": 99}, "crop_size": {"height": height, "width": width}}
    fixture = write_folder(tmp_path, name, preprocessor={**IMAGES, **sizes, "do_center_crop": True})
    model = hsvit_keras.from_transformers(tmp_path)
    assert model.input_shape == (None, height, width, 3)
    assert_logits(model, fixture, (reference.images(fixture) * 0.5 + 0.5) * 255)


@pytest.mark.once
def test_how_pictures_are_resized_is_in_the_model(tmp_path):
    """Of its own size and of another, in its file, too."""
    sizes = {
        "image_processor_type": "BitImageProcessor", "size": {"shortest_edge": 64}, "resample": 3,
        "crop_size": {"height": 32, "width": 64},
    }  # fmt: skip
    write_folder(tmp_path, "hf_resnet_basic", preprocessor={**IMAGES, **sizes, "do_center_crop": True})
    model = hsvit_keras.from_transformers(tmp_path, num_classes=3)
    assert description_of(model).resizing == Resizing("bicubic", 64)
    model.save(tmp_path / "model.keras")
    assert description_of(keras.models.load_model(tmp_path / "model.keras")) == description_of(model)
    other = hsvit_keras.from_transformers(tmp_path, input_shape=(48, 48, 3))
    assert description_of(other).resizing == Resizing("bicubic", 96)


def test_flipped_channels(tmp_path):
    """A model of blue, green, red becomes one of red, green, blue."""
    settings = {"do_rescale": True, "do_normalize": False, "do_flip_channel_order": True}
    fixture = write_folder(tmp_path, "hf_resnet_basic", preprocessor=settings)
    model = hsvit_keras.from_transformers(tmp_path, input_shape=sides(fixture))
    assert_logits(model, fixture, reference.images(fixture)[..., ::-1] * 255)


# ---- what does not fit -----------------------------------------------------------------------------
@pytest.mark.once
def test_tensors_that_do_not_fit_are_named(tmp_path):
    missing, more = "resnet.encoder.stages.1.layers.0.shortcut.convolution.weight", np.zeros(2, "float32")
    write_folder(tmp_path, "hf_resnet_basic", tensors={missing: None, "resnet.more": more})
    with pytest.raises(ValueError) as error:
        hsvit_keras.from_transformers(tmp_path)
    message = str(error.value)
    assert f"{missing} is missing" in message
    assert "resnet.more with shape (2,) has no place" in message
    assert "\n" not in message


WRONG = {  # changes of config.json -> what is said
    "backbone": (
        {"architectures": ["ResNetModel"]},
        "ResNetModel has no head: load the checkpoint as ResNetForImageClassification in transformers",
    ),
    "class": ({"architectures": ["BertModel"]}, r"one of .*EfficientNetFor.*; .* is \['BertModel'\]"),
    "no class": ({"architectures": None}, "one of .*; config.json: architectures is None"),
    "act": ({"hidden_act": "gelu"}, "hidden_act of config.json has to be 'relu'; received hidden_act='gelu'"),
    "names": ({"id2label": {"0": "a", "2": "b"}}, "id2label has 2 classes, but none of number 1"),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_configs_that_do_not_fit(name, tmp_path):
    changes, message = WRONG[name]
    write_folder(tmp_path, "hf_resnet_basic", **changes)
    with pytest.raises(ValueError, match=message):
        hsvit_keras.from_transformers(tmp_path)


@pytest.mark.once
def test_missing_and_damaged_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*config\.json"):
        hsvit_keras.from_transformers(tmp_path)
    write_folder(tmp_path, "hf_resnet_basic")
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"neither model\.safetensors nor pytorch_model\.bin in "):
        hsvit_keras.from_transformers(tmp_path)
    (tmp_path / "config.json").write_text('{"architectures": ')
    with pytest.raises(ValueError, match=r"config\.json is no JSON: "):
        hsvit_keras.from_transformers(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(ValueError, match=r"config\.json holds a list; an object"):
        hsvit_keras.from_transformers(tmp_path)


@pytest.mark.slow_on_jax
def test_imported_model_saves_and_loads(tmp_path):
    fixture = write_folder(tmp_path, "hf_efficientnet", preprocessor=IMAGES)
    model = hsvit_keras.from_transformers(tmp_path, input_shape=sides(fixture))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    images = reference.images(fixture)
    np.testing.assert_array_equal(outputs(loaded, images), outputs(model, images))
