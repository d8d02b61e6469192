"""Detectors of keras-cv: boxes, losses and metrics are those of the library itself."""

import warnings

import keras
import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.tasks import task_named
from hsvit_runtime import box_labels
from hsvit_runtime.errors import InputError

keras_cv = pytest.importorskip("keras_cv")
pytestmark = [pytest.mark.tensorflow, pytest.mark.exhaustive]

SHAPE = (64, 64, 3)


def yolo():
    backbone = keras_cv.models.YOLOV8Backbone(
        stackwise_channels=[4, 8, 8, 16],
        stackwise_depth=[1, 1, 1, 1],
        include_rescaling=True,
        input_shape=SHAPE,
    )
    return keras_cv.models.YOLOV8Detector(backbone, num_classes=3, bounding_box_format="xyxy", fpn_depth=1)


def retinanet():
    backbone = keras_cv.models.ResNetBackbone(
        stackwise_filters=[64, 8, 8, 8], stackwise_blocks=[1, 1, 1, 1], stackwise_strides=[1, 2, 2, 2],
        include_rescaling=True, block_type="basic_block", input_shape=SHAPE,
    )  # fmt: skip
    return keras_cv.models.RetinaNet(backbone, num_classes=3, bounding_box_format="xyxy")


@pytest.fixture(scope="module", params=[yolo, retinanet], ids=["yolo", "retinanet"])
def pair(request):
    """A detector of keras-cv and the model made of it, with images and labels."""
    keras.utils.set_random_seed(0)
    detector = request.param()
    rng = np.random.default_rng(0)
    for weight in detector.trainable_weights:  # biases among them, which start at zero
        weight.assign_add(rng.normal(0, 0.02, weight.shape))
    model = hsvit_keras.from_keras_cv(detector, class_names=("a", "b", "c"))
    images = rng.uniform(0, 255, (2, *SHAPE)).astype("float32")
    rows = [(0, 0.4, 0.4, 0.5, 0.5, 0), (2, 0.7, 0.6, 0.45, 0.6, 0)]
    return detector, model, images, box_labels.padded([rows, rows[:1]])


def library_boxes(detector, outputs, images):
    """Corners in pixels and chances, as keras-cv decodes them before suppression."""
    found = []
    detector.prediction_decoder.call = lambda boxes, scores, **_: (
        found.extend((boxes, scores)) or {"boxes": boxes}
    )
    detector.decode_predictions(outputs, images)
    del detector.prediction_decoder.call
    return [np.asarray(each) for each in found]


def library_outputs(detector, images):
    named = isinstance(detector.input, dict)
    return detector({"images": images} if named else images, training=False)


def test_outputs_are_what_the_library_decodes(pair):
    detector, model, images, _ = pair
    found = model.predict_on_batch(images)
    outputs = library_outputs(detector, images)
    boxes, scores = library_boxes(detector, outputs, images)
    size = np.tile(found["boxes"][..., 2:] / 2, 2) * [-1, -1, 1, 1]
    np.testing.assert_allclose((np.tile(found["boxes"][..., :2], 2) + size) * 64, boxes, atol=2e-3)
    chances = 1 / (1 + np.exp(-found["logits"]))
    is_yolo = isinstance(detector, keras_cv.models.YOLOV8Detector)
    np.testing.assert_allclose(chances, scores if is_yolo else 1 / (1 + np.exp(-scores)), atol=1e-5)
    assert description_of(model).task == "dense_detection"
    assert description_of(model).class_names == ("a", "b", "c")


def test_the_loss_is_that_of_the_library(pair):
    detector, model, images, labels = pair
    is_yolo = isinstance(detector, keras_cv.models.YOLOV8Detector)
    detector.compile(
        box_loss="ciou" if is_yolo else "smoothl1",
        classification_loss="binary_crossentropy" if is_yolo else "focal",
        optimizer="sgd", jit_compile=False, run_eagerly=True,
    )  # fmt: skip
    center, sides = labels[..., 1:3], labels[..., 3:5]
    corners = np.concatenate([center - sides / 2, center + sides / 2], -1) * 64
    is_box = labels[..., :1] >= 0
    wanted = {
        "boxes": np.where(is_box, corners, -1).astype("float32"),
        "classes": np.where(is_box, labels[..., :1], -1)[..., 0].astype("float32"),
    }
    expected = detector.compute_loss(images, wanted, library_outputs(detector, images), None)
    task = task_named("dense_detection")
    learner = task.learner(model)
    found = task.loss(model=learner)(labels, learner.predict_on_batch(images))
    assert float(expected) > 0
    assert float(found) == pytest.approx(float(expected), rel=2e-4)


def test_metrics_are_those_of_the_library(pair):
    _, _, _, labels = pair
    rng = np.random.default_rng(2)
    boxes = np.repeat(labels[:, :1, 1:5], 6, 1) + rng.normal(0, 0.03, (2, 6, 4)).astype("float32")
    logits = rng.normal(0, 3, (2, 6, 3)).astype("float32")
    task = task_named("detection")
    found = task.evaluate({"logits": logits, "boxes": boxes}, labels)
    detections = task.detections({"logits": logits, "boxes": boxes})
    metrics = keras_cv.metrics.BoxCOCOMetrics(bounding_box_format="xyxy", evaluate_freq=1)
    corners = np.concatenate(
        [labels[..., 1:3] - labels[..., 3:5] / 2, labels[..., 1:3] + labels[..., 3:5] / 2], -1
    )
    metrics.update_state(
        {"boxes": 1000 * corners, "classes": labels[..., 0]},
        {
            "boxes": (1000 * detections.boxes).astype("float32"),
            "classes": detections.classes.astype("float32"),
            "confidence": detections.scores,
        },
    )
    expected = metrics.result(force=True)
    assert found["ap50"] > 0
    names = {"ap": "MaP", "ap50": "MaP@[IoU=50]", "ap75": "MaP@[IoU=75]"}
    for name, theirs in names.items():
        assert found[name] == pytest.approx(float(expected[theirs]), abs=1e-5)


def test_other_models_are_refused():
    with pytest.raises(InputError, match="detector has to be a YOLOV8Detector or a RetinaNet"):
        hsvit_keras.from_keras_cv(keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]))
    with pytest.raises(InputError, match="multiples of 32"):
        hsvit_keras.create_model("yolo_v8_xs", input_shape=(60, 64, 3))


def test_artifacts_say_what_the_detector_says(pair, tmp_path):
    _, model, images, _ = pair
    expected = model.predict_on_batch(images)
    for preset, near in (("float32", 1e-3), ("int8", 0.3)):
        path = tmp_path / f"{preset}.tflite"
        calibration = [images] if preset == "int8" else None
        # Two images of noise set no limits for 8 bits.
        with warnings.catch_warnings():
            # Maps of YOLOv8 are enlarged by an operation that stays float.
            warnings.filterwarnings("ignore", "the scheme has no entry for detector/repeat")
            report = hsvit_keras.to_tflite(
                model,
                path,
                preset=preset,
                calibration=calibration,
                samples=images,
                allow_loss=preset == "int8",
            )
        assert report["task"]["name"] == "dense_detection" and not report["flex_ops"]
        found = hsvit_keras.open_model(path).predict({"image": images})
        assert {name: array.shape for name, array in found.items()} == {
            name: array.shape for name, array in expected.items()
        }
        for name, array in expected.items():
            error = np.sqrt(np.mean((found[name] - array) ** 2))
            assert error <= near * np.std(array), (preset, name)
