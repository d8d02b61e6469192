"""Metadata of .tflite files: written, read back, and taken by MediaPipe.

MediaPipe wants an environment of its own, which `make setup-mediapipe` sets up; Debian needs the packages
libegl1, libgles2, libgl1 and libglib2.0-0 for it. Its ImageClassifier takes a batch of 1 or of any size,
three channels, float32 or uint8 inputs and outputs. A float32 input needs NormalizationOptions; a uint8
input gets pixels as they are.
"""

import base64
import io
import json
import pathlib
import random
import subprocess
import warnings
import zipfile

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

from ai_edge_litert.tools import flatbuffer_utils

from hsvit_runtime import metadata
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError
from hsvit_runtime.inspection import inspect
from hsvit_runtime.litert import metadata_schema, packing, signatures, tflite_file
from hsvit_runtime.resizing import Resizing
from hsvit_runtime.tflite_model import TFLiteModel, open_signatures
from tests.runtime.litert.builder import Builder

ROOT = pathlib.Path(__file__).parents[2]
MEDIAPIPE = ROOT / ".venv-mediapipe"
CLASSES = ("ant", "bee", "crab", "dög")
DESCRIPTION = Description(
    "classification", CLASSES, "zoo", (0.0, 255.0), probabilities=True, resizing=Resizing("box", (9, 8))
)
FACTS = {"name": "Zoo", "summary": "Tells animals.", "version": "3", "author": "We", "licence": "Apache-2.0"}
NAMES = {"input_names": ["image"], "output_names": ["probabilities"]}
TINTS = np.array([[127, 0, 0], [0, 127, 0], [0, 0, 127], [127, 127, 0]], "uint8")[:, None, None]
IMAGES = np.random.default_rng(1).integers(0, 128, (4, 12, 12, 3), dtype="uint8") + TINTS
# Largest difference to Keras' probabilities: rounding of sums, of weights to 11 bits, of weights and then
# also of activations to 8 bits.
TOLERANCE = {"float32": 1e-6, "float16": 5e-4, "dynamic": 5e-3, "int8": 1e-2, "int8_uint8": 1e-2}
PRESETS = tuple(TOLERANCE)


# ---- small files -----------------------------------------------------------------------------------
def small(shape=(1, 8, 8, 3), classes=4, **options):
    """A file without weights: an image of one number for each class."""
    builder = Builder()
    x, y = builder.tensor(shape, **options), builder.tensor((1, classes))
    builder.op("CUSTOM", [x], [y], custom="Answer")
    builder.metadata("min_runtime_version", b"2.17.0".ljust(16, b"\0"))
    return builder.content([x], [y])


def standard(content):
    """The fields of the standard metadata in a file."""
    return metadata_schema.unpack(tflite_file.read(content, "file").metadata["TFLITE_METADATA"])


def normalization(content):
    (image,) = standard(content)["subgraph_metadata"][0]["input_tensor_metadata"]
    (unit,) = image["process_units"]
    return unit["options"]["NormalizationOptions"]


def test_all_fields():
    assert standard(metadata.write(small(), DESCRIPTION, **FACTS, **NAMES)) == {
        "name": "Zoo",
        "description": "Tells animals.",
        "version": "3",
        "author": "We",
        "license": "Apache-2.0",
        "min_parser_version": "1.0.0",
        "subgraph_metadata": [
            {
                "input_tensor_metadata": [
                    {
                        "name": "image",
                        "description": "Image: a black pixel is 0, a white one 255.",
                        "content": {"content_properties": {"ImageProperties": {"color_space": 1}}},
                        "process_units": [
                            {"options": {"NormalizationOptions": {"mean": [0.0], "std": [1.0]}}}
                        ],
                        "stats": {"min": [0.0], "max": [255.0]},
                    }
                ],
                "output_tensor_metadata": [
                    {
                        "name": "probabilities",
                        "description": "Probabilities of the classes.",
                        "content": {"content_properties": {"FeatureProperties": {}}},
                        "stats": {"min": [0.0], "max": [1.0]},
                        "associated_files": [
                            {
                                "name": "labels.txt",
                                "description": "Names of the classes, one a line.",
                                "type": 2,
                            }
                        ],
                    }
                ],
            }
        ],
    }


def test_what_is_not_known_is_left_out():
    content = metadata.write(small(), Description(), name="Zoo")
    feature = {"content": {"content_properties": {"FeatureProperties": {}}}}
    assert standard(content) == {
        "name": "Zoo",
        "min_parser_version": "1.0.0",
        "subgraph_metadata": [
            {
                "input_tensor_metadata": [{"name": "tensor0"} | feature],
                "output_tensor_metadata": [{"name": "tensor1"} | feature],
            }
        ],
    }
    assert not zipfile.is_zipfile(io.BytesIO(content))
    assert metadata.read_description(content) == Description()


@pytest.mark.parametrize(
    ("input_range", "mean", "std"),
    [((0, 255), 0, 1), ((0, 1), 0, 255), ((-1, 1), 127.5, 127.5), ((1, 0), 255, -255)],
)
def test_normalization_gives_the_input_range(input_range, mean, std):
    content = metadata.write(small(), Description(input_range=input_range), name="Zoo")
    assert normalization(content) == {"mean": [mean], "std": [std]}
    assert [(pixel - mean) / std for pixel in (0, 255)] == list(input_range)


@pytest.mark.parametrize(("shape", "color_space"), [((1, 8, 8, 3), 1), ((1, 8, 8, 1), 2)])
def test_color_space(shape, color_space):
    (graph,) = standard(metadata.write(small(shape), DESCRIPTION, name="Zoo"))["subgraph_metadata"]
    properties = graph["input_tensor_metadata"][0]["content"]["content_properties"]
    assert properties == {"ImageProperties": {"color_space": color_space}}


@pytest.mark.parametrize("shape", [(1, 8, 8, 2), (1, 192)])
def test_other_inputs_are_no_images(shape):
    (graph,) = standard(metadata.write(small(shape), DESCRIPTION, name="Zoo"))["subgraph_metadata"]
    assert graph["input_tensor_metadata"][0]["content"] == {"content_properties": {"FeatureProperties": {}}}


@pytest.mark.parametrize(("dtype", "limits"), [("uint8", (0, 255)), ("int8", (-128, 127))])
def test_limits_of_integers_are_those_of_the_type(dtype, limits):
    description = Description(input_range=(-1.0, 1.0))
    content = metadata.write(small(dtype=dtype, scale=2 / 255), description, name="Zoo")
    (graph,) = standard(content)["subgraph_metadata"]
    low, high = limits
    assert graph["input_tensor_metadata"][0]["stats"] == {"min": [low], "max": [high]}


def test_labels_only_where_each_index_has_one():
    content = metadata.write(small(classes=5), DESCRIPTION, name="Zoo")
    (graph,) = standard(content)["subgraph_metadata"]
    assert "associated_files" not in graph["output_tensor_metadata"][0]
    assert metadata.read_description(content) == DESCRIPTION


def test_a_name_of_several_lines_is_one_label():
    description = Description(class_names=("one\ntwo", "b", "c", "d"))
    content = metadata.write(small(), description, name="Zoo")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.read("labels.txt") == b"one two\nb\nc\nd\n"
    assert metadata.read_description(content) == description


def test_writing_again_replaces():
    old = metadata.write(small(), Description(class_names=tuple("wxyz")), name="Old", author="Someone")
    assert metadata.write(old, DESCRIPTION, **FACTS) == metadata.write(small(), DESCRIPTION, **FACTS)


def test_an_entry_without_content_is_filled():
    builder = Builder()
    x = builder.tensor((1,))
    builder.metadata("TFLITE_METADATA", b"")
    content = metadata.write(builder.content([x], [x]), Description(), name="Zoo")
    assert standard(content)["name"] == "Zoo"
    assert flatbuffer_utils.read_model_from_bytearray(content).buffers[0].data is None


@pytest.mark.parametrize("names", [{"input_names": []}, {"output_names": ["a", "b"]}])
def test_wrong_number_of_names(names):
    with pytest.raises(InputError, match=r"_names must be 1 names, one an (in|out)put; received \["):
        metadata.write(small(), Description(), name="Zoo", **names)


def test_other_content():
    with pytest.raises(InputError, match=r"the model is not a [.]tflite file"):
        metadata.write(b"GIF89a, a picture", Description(), name="Zoo")


# ---- signatures ------------------------------------------------------------------------------------
def adding(number):
    """A file that adds a number to four."""
    builder = Builder()
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    builder.op("ADD", [x, builder.constant([[number] * 4])], [y], "AddOptions")
    return builder.content([x], [y])


def answer(content, signature, **inputs):
    model = open_signatures(content)[signature]
    return {name: values.tolist() for name, values in model.run(inputs).items()}


def test_a_graph_without_signature_gets_one():
    content = metadata.write(adding(1.0), Description(), name="Sum", input_names=["x"], output_names=["sum"])
    assert answer(content, "serving_default", x=np.zeros((1, 4), "float32")) == {"sum": [[1.0] * 4]}


def test_without_names_signatures_stay_as_they_are():
    content = signatures.join({"one": adding(1.0)}, ["given"], ["made"])
    described = metadata.write(content, Description(), name="Sum")
    assert answer(described, "one", given=np.zeros((1, 4), "float32")) == {"made": [[1.0] * 4]}
    assert [tensor.name for tensor in TFLiteModel(described).inputs] == ["tensor0"]


def test_signatures_of_several_graphs_are_kept():
    content = signatures.join({"one": adding(1.0), "two": adding(2.0)}, ["x"], ["y"])
    described = metadata.write(content, DESCRIPTION, name="Sums", input_names=["x"], output_names=["y"])
    zeros = np.zeros((1, 4), "float32")
    assert answer(described, "one", x=zeros) == {"y": [[1.0] * 4]}
    assert answer(described, "two", x=zeros) == {"y": [[2.0] * 4]}
    assert list(open_signatures(described)) == ["one", "two"]


# ---- reading others' files -------------------------------------------------------------------------
# "score" with the labels birds.txt behind a file of another type, and fields and options that we do not
# write: packed by the classes of mediapipe 1.2.3.
FOREIGN = base64.b85decode(
    "8~^|SO)xMq6aW+e5C9AS000O800000000C46aWAK5C8xG7ytkOC;|WgFaiJo1poj5F)lSOFaQ7m0RR918~^|S7yu9e000003;+lK"
    "0000000000000C47ytkO3;+NCEC2ui@Bjb+0RR911ONa4)c*hf2mk;83;+NC0{{R30RjU60RR91cmMzZ0RR917ytkO000sI5C9AS"
    "00000000O8000C45&!@I3;+NCd;kCdlmGw#0ssI2Q~&?~6aWAK000gE6aWwa000jF2mk~C4gdfE5C8xG6aWAK000026aWAK0RR91"
    "G5`Po0ssI2Wo`ff2><{9Vrg<@b1rmvbN~tf3;+lK000L73IG5A000011ONa42><{9VPbD}bS`vwbN~PV0RR911ONa4tpET22mk;8"
    "00002RR90~0000#1poj5b7OCEWdHyG0RR916aWAK000gE6aWwa000aC2mk~C4gdfE5C8xGXaE2JqyPW_!~g&Q0RR913;+NC2mlNK"
    "3jhQF2mk;85C8xG000012mlNK2mk~C2mk;82mk;86aWAK0{{R30093&0093&0093&0{{R30093&0093&0093&000UA5C9JV2mk~C"
    "3IG5A6aWAKAOHXW000022mlBG000C42mk;80{{R32mlHI2>=8D2mk;83;+NC009O72mk~C1^@s62mk;80ssI26aWAK1ONa41^@s6"
    "Xk}?<XmkJo1poj5VqtV+XaE2J1poj5X>DO=WdHyG1^@s6bZBL1a&rIx1ONa4Vrg<@00000"
)


def foreign(packed, files):
    """A file with standard metadata only, and deflated files behind it."""
    builder = Builder()
    x = builder.tensor((1, 8, 8, 3))
    builder.metadata("TFLITE_METADATA", packed)
    stream = io.BytesIO(builder.content([x], [x]))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return stream.getvalue()


def test_standard_metadata_of_others(tmp_path):
    content = foreign(FOREIGN, {"about.txt": "of birds", "birds.txt": "robin\r\nwrén\n"})
    expected = Description(class_names=("robin", "wrén"), input_range=(-1.0, 1.0))
    assert metadata.read_description(content) == expected
    path = tmp_path / "foreign.tflite"
    path.write_bytes(content)
    assert metadata.read_description(path) == metadata.read_description(str(path)) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"mean": [0.0], "std": [1.0]}, (0.0, 255.0)),
        ({"mean": [0.0, 0.0, 0.0], "std": [255.0]}, (0.0, 1.0)),
        ({"mean": [123.7, 116.3, 103.5], "std": [58.4, 57.1, 57.4]}, None),
        ({"mean": [0.0], "std": [0.0]}, None),
        ({"mean": [], "std": []}, None),
        ({}, None),
    ],
)
def test_input_range_of_others(options, expected):
    packed = metadata_schema.pack(
        {
            "subgraph_metadata": [
                {
                    "input_tensor_metadata": [
                        {"process_units": [{"options": {"NormalizationOptions": options}}]}
                    ]
                }
            ]
        }
    )
    assert metadata.read_description(foreign(packed, {})) == Description(input_range=expected)


def test_labels_that_are_not_there():
    assert metadata.read_description(foreign(FOREIGN, {})) == Description(input_range=(-1.0, 1.0))


def test_other_files_say_nothing(tmp_path):
    for content in (
        b"",
        b"TFL",
        b"GIF89a, a picture",
        small(),
        foreign(b"", {}),
        foreign(b"no flatbuffer", {}),
    ):
        path = tmp_path / "file.tflite"
        path.write_bytes(content)
        assert metadata.read_description(content) == metadata.read_description(path) == Description()


def test_damaged_files_say_something_or_nothing():
    ours = metadata.write(small(), DESCRIPTION, **FACTS)
    chance = random.Random(0)
    for content in (ours, foreign(FOREIGN, {"birds.txt": "robin\nwren\n" * 20})):
        for _ in range(300):
            damaged = bytearray(content)
            for _ in range(chance.choice([1, 2, 8])):
                damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            assert isinstance(metadata.read_description(bytes(damaged)), Description)
            assert isinstance(
                metadata.read_description(content[: chance.randrange(len(content))]), Description
            )


# ---- what TensorFlow converts ----------------------------------------------------------------------
def convert(model, preset):
    """The content of a .tflite file."""
    import tensorflow as tf

    signature = [tf.TensorSpec((1, *model.input_shape[1:]), "float32")]
    serve = tf.function(lambda image: model(image, training=False), input_signature=signature)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([serve.get_concrete_function()], tf.Module())
    if preset != "float32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if preset == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if preset.startswith("int8"):
        black_and_white = np.stack([np.zeros(model.input_shape[1:]), np.full(model.input_shape[1:], 255)])
        images = np.concatenate([IMAGES, black_and_white]).astype("float32")
        converter.representative_dataset = lambda: ([image[None]] for image in images)
    if preset == "int8_uint8":
        converter.inference_input_type = converter.inference_output_type = tf.uint8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bytes(converter.convert())


@pytest.fixture(scope="module")
def model():
    """A classifier of pixels. By this seed no two best classes are so close that rounding swaps them."""
    import keras

    keras.utils.set_random_seed(28)
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((12, 12, 3)),
            layers.Rescaling(1 / 64, offset=-2),
            layers.Conv2D(16, 3, activation="relu"),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.Flatten(),
            layers.Dense(len(CLASSES)),
            layers.Softmax(),
        ]
    )


@pytest.fixture(scope="module")
def bare(model):
    """dict from preset to the content that the converter makes."""
    return {preset: convert(model, preset) for preset in PRESETS}


@pytest.fixture(scope="module")
def described(bare):
    """The same with metadata."""
    return {
        preset: metadata.write(content, DESCRIPTION, **FACTS, **NAMES) for preset, content in bare.items()
    }


@pytest.mark.tensorflow
@pytest.mark.parametrize("preset", PRESETS)
def test_outputs_keep_every_bit(bare, described, preset):
    before, after = TFLiteModel(bare[preset]), TFLiteModel(described[preset])
    by_signature = open_signatures(described[preset])["serving_default"]
    for image in IMAGES[:, None]:
        given = after.quantize({"image": image})
        (expected,) = before.run({before.inputs[0].name: given["image"]}).values()
        for runnable in (after, by_signature):
            answers = runnable.run(given)
            assert list(answers) == ["probabilities"]
            np.testing.assert_array_equal(answers["probabilities"], expected)


@pytest.mark.tensorflow
@pytest.mark.parametrize("preset", PRESETS)
def test_the_rest_of_the_file_stays(bare, described, preset):
    before, after = (tflite_file.read(files[preset], preset) for files in (bare, described))
    added = {"TFLITE_METADATA", "hsvit_description"}
    assert after.metadata.keys() - before.metadata.keys() == added
    assert "CONVERSION_METADATA" in before.metadata and "min_runtime_version" in before.metadata
    assert {name: after.metadata[name] for name in before.metadata} == before.metadata
    size = sum(len(after.metadata[name]) for name in added) + len("\n".join(CLASSES))
    assert len(described[preset]) - len(bare[preset]) < size + 700  # names, signature, archive's tables
    for old, new in zip(before.subgraphs[0].tensors, after.subgraphs[0].tensors, strict=True):
        assert (old.data, old.shape, old.dtype, old.scales) == (new.data, new.shape, new.dtype, new.scales)


@pytest.mark.tensorflow
@pytest.mark.parametrize("preset", PRESETS)
def test_weights_stay_aligned(described, preset):
    content = np.frombuffer(described[preset], "uint8")
    buffers = flatbuffer_utils.Model.GetRootAs(content)
    places = [
        data.ctypes.data - content.ctypes.data
        for number in range(buffers.BuffersLength())
        if isinstance(data := buffers.Buffers(number).DataAsNumpy(), np.ndarray)
    ]
    assert len(places) > 5
    assert {place % 16 for place in places} == {0}


def test_joined_weights_are_aligned():
    content = signatures.join({"one": adding(1.0), "two": adding(2.0)}, ["x"], ["y"])
    for value in (1.0, 2.0):
        assert content.index(np.full(4, value, "float32").tobytes()) % 16 == 0
    model = flatbuffer_utils.read_model_from_bytearray(content)
    assert packing.pack(model) == content


@pytest.mark.tensorflow
@pytest.mark.parametrize("preset", PRESETS)
def test_inspection_sees_the_same_model(bare, described, preset):
    before, after = inspect(bare[preset]), inspect(described[preset])
    assert [tensor["name"] for tensor in after["inputs"] + after["outputs"]] == ["image", "probabilities"]
    for report in (before, after):
        del report["bytes"], report["sha256"]
        for tensor in report["inputs"] + report["outputs"] + report["quantized_tensors"]:
            del tensor["name"]
    assert after == before


@pytest.mark.tensorflow
@pytest.mark.parametrize("preset", PRESETS)
def test_description_and_labels_are_read_back(described, tmp_path, preset):
    path = tmp_path / f"{preset}.tflite"
    path.write_bytes(described[preset])
    assert metadata.read_description(path) == TFLiteModel(path).description == DESCRIPTION
    with zipfile.ZipFile(path) as archive:
        (entry,) = archive.infolist()
        assert (entry.filename, entry.compress_type) == ("labels.txt", zipfile.ZIP_STORED)
        assert archive.read(entry).decode().splitlines() == list(CLASSES)
        assert archive.testzip() is None


# ---- MediaPipe -------------------------------------------------------------------------------------
needs_mediapipe = pytest.mark.skipif(
    not (MEDIAPIPE / "installed").exists(), reason="needs the environment that `make setup-mediapipe` sets up"
)


@pytest.fixture(scope="module")
def seen_by_mediapipe(described, tmp_path_factory):
    """What MediaPipe says of each file: see mediapipe_classify.py."""
    folder = tmp_path_factory.mktemp("mediapipe")
    gray = metadata.write(small((1, 8, 8, 1)), DESCRIPTION, **FACTS)
    for name, content in (described | {"gray": gray}).items():
        (folder / f"{name}.tflite").write_bytes(content)
    np.save(folder / "images.npy", IMAGES)
    script = pathlib.Path(__file__).with_name("mediapipe_classify.py")
    command = [MEDIAPIPE / "bin/python", script, folder / "images.npy", *sorted(folder.glob("*.tflite"))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_mediapipe
@pytest.mark.tensorflow
@pytest.mark.parametrize("preset", PRESETS)
def test_mediapipe_gives_the_categories_of_keras(model, described, seen_by_mediapipe, preset):
    expected = np.asarray(model(IMAGES.astype("float32")))
    *_, second, best = np.sort(expected).T
    assert (best - second > 2 * TOLERANCE[preset]).all() and len(set(expected.argmax(-1))) > 1
    by_litert = TFLiteModel(described[preset]).predict({"image": IMAGES})["probabilities"]
    for image, categories in enumerate(seen_by_mediapipe[preset]["categories"]):
        assert [CLASSES[category["index"]] for category in categories] == [c["name"] for c in categories]
        scores = np.zeros(len(CLASSES))
        scores[[category["index"] for category in categories]] = [c["score"] for c in categories]
        np.testing.assert_allclose(scores, expected[image], atol=TOLERANCE[preset])
        np.testing.assert_allclose(scores, by_litert[image], atol=1e-6)
        assert categories[0]["index"] == expected[image].argmax()


@needs_mediapipe
@pytest.mark.tensorflow
def test_mediapipe_reads_the_fields(seen_by_mediapipe):
    fields = seen_by_mediapipe["int8_uint8"]["metadata"]
    (graph,) = fields.pop("subgraphMetadata")
    assert fields == {
        "name": "Zoo",
        "description": "Tells animals.",
        "version": "3",
        "author": "We",
        "license": "Apache-2.0",
        "minParserVersion": "1.0.0",
    }
    (image,), (scores,) = graph["inputTensorMetadata"], graph["outputTensorMetadata"]
    assert image == {
        "name": "image",
        "description": "Image: a black pixel is 0, a white one 255.",
        "content": {"contentPropertiesType": 2, "contentProperties": {"colorSpace": 1}},
        "processUnits": [{"optionsType": 1, "options": {"mean": [0.0], "std": [1.0]}}],
        "stats": {"min": [0.0], "max": [255.0]},
    }
    assert scores == {
        "name": "probabilities",
        "description": "Probabilities of the classes.",
        "content": {"contentPropertiesType": 1, "contentProperties": {}},
        "stats": {"min": [0.0], "max": [255.0]},
        "associatedFiles": [
            {"name": "labels.txt", "description": "Names of the classes, one a line.", "type": 2}
        ],
    }


@needs_mediapipe
@pytest.mark.tensorflow
def test_mediapipe_takes_no_gray_images(seen_by_mediapipe):
    assert "color space" in seen_by_mediapipe["gray"]["error"]
