"""Teachers from files of anybody, and of other pixels: what they answer, and what is refused."""

import keras
import numpy as np
import pytest
from keras import layers

from hsvit_keras.artifacts import to_onnx
from hsvit_keras.layers.model_description import describe
from tests.training.breaking import broken_off
from tests.training.test_distillation import crossentropy, softmax
from tests.training.test_train import DISTILLATION, assert_same_run, small_config
from training.fitting import fit
from training.fitting.distillation import Distiller
from training.fitting.onnx_teacher import OnnxTeacher
from training.fitting.run import train

onnx = pytest.importorskip("onnx")
SHAPE = (4, 6, 3)
WEIGHTS = np.random.default_rng(0).normal(size=(3, 5)).astype("float32")


def write_file(
    path, *, shape=("batch", 3, "height", "width"), weights=WEIGHTS, channels_first=True, outputs=1
):
    """As PyTorch exports: the mean of each channel, times weights. It says nothing of itself."""
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    axes = [2, 3] if channels_first else [1, 2]
    nodes = [
        helper.make_node("ReduceMean", ["image"], ["mean"], axes=axes, keepdims=0),
        *(helper.make_node("MatMul", ["mean", "weights"], [f"logits{i}"]) for i in range(outputs)),
    ]
    graph = helper.make_graph(
        nodes,
        "teacher",
        [helper.make_tensor_value_info("image", float32, shape)],
        [
            helper.make_tensor_value_info(f"logits{i}", float32, ("batch", weights.shape[1]))
            for i in range(outputs)
        ],
        [onnx.numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)
    return path


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(1).uniform(0, 255, (8, *SHAPE)).astype("float32")


def student():
    image = keras.Input(SHAPE)
    mean = layers.GlobalAveragePooling2D()(layers.Rescaling(1 / 255)(image))
    return keras.Model(image, layers.Dense(5)(mean))


@pytest.mark.parametrize("channels_first", [True, False])
def test_a_file_answers_the_images_in_its_own_range_and_order(tmp_path, images, channels_first):
    shape = ("batch", 3, "height", "width") if channels_first else ("batch", *SHAPE)
    path = write_file(tmp_path / "teacher.onnx", shape=shape, channels_first=channels_first)
    teacher = OnnxTeacher(path, SHAPE, (0, 255), (-1, 1))
    expected = (images / 127.5 - 1).mean((1, 2)) @ WEIGHTS
    np.testing.assert_allclose(np.asarray(teacher(images)), expected, rtol=1e-4, atol=1e-5)


def test_a_file_of_single_images_answers_a_batch(tmp_path, images):
    path = write_file(tmp_path / "teacher.onnx", shape=(1, 3, 4, 6))
    answers = np.asarray(OnnxTeacher(path, SHAPE, (0, 255), (0, 1))(images))
    np.testing.assert_allclose(answers, (images / 255).mean((1, 2)) @ WEIGHTS, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("jit", [True, False])
def test_a_student_learns_hard_labels_from_a_file(tmp_path, images, jit):
    """In a step as `fit` compiles it; no label counts with alpha 1."""
    teacher = OnnxTeacher(write_file(tmp_path / "teacher.onnx"), SHAPE, (0, 255), (0, 1))
    model = student()
    logits = np.asarray(model(images))
    decisions = np.eye(5)[((images / 255).mean((1, 2)) @ WEIGHTS).argmax(-1)]
    distiller = Distiller(model, teacher, alpha=1.0, hard=True)
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    distiller.compile(keras.optimizers.SGD(0.1), loss=loss, jit_compile=jit)
    found = [distiller.train_on_batch(images, np.eye(5)[[0] * 8]) for _ in range(3)]
    assert float(found[0]) == pytest.approx(crossentropy(decisions, logits), rel=1e-5)
    assert not np.array_equal(np.asarray(model(images)), logits)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_a_file_that_says_its_pixels_and_its_probabilities_needs_no_settings(tmp_path, images):
    model = describe(student(), task="classification", class_names=tuple("abcde"), input_range=(0, 255))
    to_onnx(model, tmp_path / "teacher.onnx")
    answers = np.asarray(OnnxTeacher(tmp_path / "teacher.onnx", SHAPE, (0, 255))(images))
    expected = softmax(np.asarray(model(images), "float64"))
    np.testing.assert_allclose(softmax(answers.astype("float64")), expected, rtol=1e-4)


@pytest.mark.parametrize("ends_in_softmax", [False, True])
def test_a_keras_model_of_other_pixels_is_asked_by_its_own(tmp_path, images, ends_in_softmax):
    image = keras.Input(SHAPE)
    answer = layers.Dense(5, activation="softmax" if ends_in_softmax else None)
    teacher = keras.Model(image, answer(layers.GlobalAveragePooling2D()(image)))
    teacher.save(tmp_path / "teacher.keras")
    settings = {**DISTILLATION, "teachers": [str(tmp_path / "teacher.keras")], "teacher_input_range": [-1, 1]}
    model = describe(student(), input_range=(0, 255))
    distiller = fit.with_teachers(model, {"distillation": settings})
    logits = (images / 127.5 - 1).mean((1, 2)) @ np.asarray(answer.kernel)
    found = np.asarray(distiller.teacher(images)["logits"], "float64")
    np.testing.assert_allclose(softmax(found), softmax(logits.astype("float64")), rtol=1e-4)


@pytest.mark.parametrize(
    "file, arguments, words",
    [
        ({"shape": ("batch", 3, 8, 8)}, {}, r"has to take images of \(4, 6, 3\); it takes \(None, 3, 8, 8\)"),
        ({"outputs": 2}, {}, r"has to give one output \(batch, classes\); it gives \(None, 5\), \(None, 5\)"),
        ({}, {"own_range": None}, "does not say which values its pixels have: .* by own_range"),
    ],
)
def test_files_that_cannot_teach_are_refused(tmp_path, file, arguments, words):
    path = write_file(tmp_path / "teacher.onnx", **file)
    with pytest.raises(ValueError, match=words):
        OnnxTeacher(path, SHAPE, (0, 255), **{"own_range": (0, 1), **arguments})


def test_a_file_of_other_classes_is_refused(tmp_path):
    path = write_file(tmp_path / "teacher.onnx", weights=WEIGHTS[:, :4])
    with pytest.raises(ValueError, match=r"teacher 'teacher' has to have the student's shape, \(None, 5\)"):
        Distiller(student(), OnnxTeacher(path, SHAPE, (0, 255), (0, 1)))


def test_a_file_that_is_not_there_or_broken_is_named_before_anything_is_written(tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"broken")
    for name, error in (("missing", FileNotFoundError), ("broken", ValueError)):
        settings = {**DISTILLATION, "teachers": (str(tmp_path / f"{name}.onnx"),)}
        with pytest.raises(error, match=f"{name}.onnx"):
            train(small_config(distillation=settings), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_a_run_with_a_file_for_a_teacher_goes_on_to_the_same_end(tmp_path):
    weights = np.random.default_rng(2).normal(size=(1, 10)).astype("float32")
    path = write_file(tmp_path / "teacher.onnx", shape=("batch", 1, 8, 8), weights=weights)
    settings = {**DISTILLATION, "teachers": (str(path),), "teacher_input_range": (0, 1), "hard": True}
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(small_config(distillation=settings, epochs=2), whole)
    with broken_off():
        train(small_config(distillation=settings, epochs=2), broken)
    train(small_config(distillation=settings, epochs=2), broken)
    assert_same_run(whole, broken)
