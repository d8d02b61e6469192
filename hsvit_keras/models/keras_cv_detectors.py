"""YOLOv8 and RetinaNet of keras-cv as detectors of this package: from pixels to `logits` and `boxes`.

keras-cv makes the layers; what differs is that boxes are decoded in the graph, and scores are logits. Of
boxes that overlap, the task leaves the best one (`hsvit_keras.tasks.DenseDetection`).

RetinaNet: https://arxiv.org/abs/1708.02002. YOLOv8 has no paper; its boxes are those of
https://arxiv.org/abs/2006.04388.
"""

import keras
import numpy as np
from keras import layers

from hsvit_keras.layers.anchor_boxes import AnchorBoxes
from hsvit_keras.layers.distribution_boxes import BINS, DistributionBoxes
from hsvit_keras.layers.model_description import with_description
from hsvit_keras.models import blocks
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError, MissingPackageError

# keras-cv's presets of YOLOv8 backbones: channels and depth of each stage, and of the feature pyramid.
YOLO_VARIANTS = {
    "yolo_v8_xs": ((32, 64, 128, 256), (1, 2, 2, 1), 1),
    "yolo_v8_s": ((64, 128, 256, 512), (1, 2, 2, 1), 1),
    "yolo_v8_m": ((96, 192, 384, 576), (2, 4, 4, 2), 2),
}
# Filters, blocks and strides of the stages of keras-cv's ResNet backbones.
RETINANET_VARIANTS = {
    "retinanet_resnet18": ((64, 128, 256, 512), (2, 2, 2, 2), "basic_block"),
    "retinanet_resnet50": ((64, 128, 256, 512), (3, 4, 6, 3), "block"),
}


@keras.saving.register_keras_serializable("hsvit_keras")
class YOLOV8(ImageModel):
    """YOLOv8 of keras-cv, a Functional graph from pixels to a dict of `logits` and `boxes`.

    Features: `maps`, its logits and distributions of distances at each place.

    Args:
        input_shape: (height, width, channels) in pixels, multiples of 32.
        num_classes: int, logits of a place.
        channels: sequence of four int, of the stages.
        depths: sequence of four int, blocks of the stages.
        pyramid_depth: int, of the blocks of the feature pyramid.
        head: str, `"dense_detection"`, or None for the features.
        dtype: dtype policy of all layers; the global one by default. Boxes are computed in float32.
        name: str.

    Raises:
        InputError: an argument has a value that does not fit, or keras-cv is missing.
    """

    task = "dense_detection"

    def __init__(
        self,
        input_shape=(640, 640, 3),
        num_classes=80,
        channels=(32, 64, 128, 256),
        depths=(1, 2, 2, 1),
        pyramid_depth=1,
        head="dense_detection",
        dtype=None,
        name="yolo_v8",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        _check_arguments(arguments)

        def build_features(image):
            models = _keras_cv().models
            backbone = models.YOLOV8Backbone(
                stackwise_channels=list(channels),
                stackwise_depth=list(depths),
                include_rescaling=False,
                input_shape=tuple(input_shape),
            )
            detector = models.YOLOV8Detector(
                backbone, num_classes=num_classes, bounding_box_format="rel_xyxy", fpn_depth=pyramid_depth
            )
            return _yolo_features(detector, image)

        super().__init__(build_features, _yolo_outputs(input_shape), arguments, head=head, **kwargs)


@keras.saving.register_keras_serializable("hsvit_keras")
class RetinaNet(ImageModel):
    """RetinaNet of keras-cv with a ResNet, a Functional graph from pixels to a dict of `logits` and `boxes`.

    Features: `logits` and `differences` of all anchors.

    Args:
        input_shape: (height, width, channels) in pixels, multiples of 32.
        num_classes: int, logits of an anchor.
        filters: sequence of four int, of the stages of the ResNet.
        depths: sequence of four int, blocks of the stages.
        block: str, `"basic_block"` or `"block"`, the bottleneck.
        head: str, `"dense_detection"`, or None for the features.
        dtype: dtype policy of all layers; the global one by default. Boxes are computed in float32.
        name: str.

    Raises:
        InputError: an argument has a value that does not fit, or keras-cv is missing.

    References:
        - [Focal loss](https://arxiv.org/abs/1708.02002), section 4
    """

    task = "dense_detection"

    def __init__(
        self,
        input_shape=(512, 512, 3),
        num_classes=80,
        filters=(64, 128, 256, 512),
        depths=(2, 2, 2, 2),
        block="basic_block",
        head="dense_detection",
        dtype=None,
        name="retinanet",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        _check_arguments(arguments)
        anchors = []

        def build_features(image):
            models = _keras_cv().models
            backbone = models.ResNetBackbone(
                stackwise_filters=list(filters),
                stackwise_blocks=list(depths),
                stackwise_strides=[1, 2, 2, 2],
                include_rescaling=False,
                block_type=block,
                input_shape=tuple(input_shape),
            )
            detector = models.RetinaNet(backbone, num_classes=num_classes, bounding_box_format="rel_xyxy")
            anchors.append(_anchors(detector, input_shape))
            return _retinanet_features(detector, image)

        def build_head(features):
            return _retinanet_outputs(features, anchors[0], input_shape)

        super().__init__(build_features, build_head, arguments, head=head, **kwargs)


def from_keras_cv(detector, *, class_names=None, data_set=None, input_range=(0, 255)):
    """A detector of this package over the layers of a `YOLOV8Detector` or a `RetinaNet` of keras-cv.

    Args:
        detector: the detector of keras-cv, which has to take images of one size.
        class_names: sequence of str, or None.
        data_set: str, the data set that it is trained on, or None.
        input_range: (low, high), the values of a black and of a white pixel in its input.

    Returns:
        `keras.Model` from images to a dict of `logits` and `boxes`, which shares its weights with `detector`.

    Raises:
        InputError: it is no such detector, takes images of any size, or keras-cv is missing.

    Example:

    ```python
    model = hsvit_keras.from_keras_cv(keras.saving.load_model("detector.keras"), class_names=names)
    hsvit_keras.to_tflite(model, "detector.tflite", preset="int8", calibration=[pixels])
    ```
    """
    models = _keras_cv().models
    if not isinstance(detector, models.YOLOV8Detector | models.RetinaNet):
        raise InputError(
            f"detector has to be a YOLOV8Detector or a RetinaNet of keras-cv; received {detector!r}"
        )
    shape = detector.inputs[0].shape[1:]
    if None in shape:
        raise InputError(f"{detector.name!r} takes images of any size, {shape}: make it with an input_shape")
    image = keras.Input(shape, name="image")
    if isinstance(detector, models.YOLOV8Detector):
        outputs = _yolo_outputs(shape)(_yolo_features(detector, image))
    else:
        features = _retinanet_features(detector, image)
        outputs = _retinanet_outputs(features, _anchors(detector, shape), shape)
    outputs = with_description(
        outputs, task="dense_detection", class_names=class_names, data_set=data_set, input_range=input_range
    )
    return keras.Model(image, outputs, name=detector.name)


def _yolo_features(detector, image):
    """Logits and distributions of distances of each map, in front of the sigmoid of keras-cv's head."""
    names = [f"yolo_v8_head_{i}_{kind}_3_conv" for kind in ("class", "box") for i in (1, 2, 3)]
    outputs = [detector.get_layer(name).output for name in names]
    maps = keras.Model(detector.inputs[0], outputs, name="detector")(image)
    return dict(zip([f"{kind}{i}" for kind in ("logits", "distances") for i in range(3)], maps, strict=True))


def _yolo_outputs(input_shape):
    def build_head(features):
        def joined(kind, width, name):
            flat = [
                layers.Reshape((-1, width), name=f"{name}{i}_flat")(features[f"{kind}{i}"]) for i in range(3)
            ]
            return layers.Concatenate(axis=1, name=name)(flat)

        logits = joined("logits", features["logits0"].shape[-1], "logits")
        distances = joined("distances", 4 * BINS, "distances")
        boxes = DistributionBoxes(tuple(input_shape)[:2], name="boxes")(distances)
        return {"logits": logits, "boxes": boxes}

    return build_head


def _retinanet_features(detector, image):
    """Logits and differences of all anchors."""
    inside = keras.Input(image.shape[1:])
    maps = _pyramid_maps(detector.feature_pyramid, detector.feature_extractor(inside))

    def joined(head, width):
        return layers.Concatenate(axis=1)(
            [layers.Reshape((-1, width))(_predictions(head, each)) for each in maps]
        )

    outputs = [joined(detector.classification_head, detector.num_classes), joined(detector.box_head, 4)]
    logits, differences = keras.Model(inside, outputs, name="detector")(image)
    return {"logits": logits, "differences": differences}


def _predictions(head, maps):
    """The output of a head; the convolutions of keras-cv's, so that passes find them in the graph."""
    if type(head) is not _keras_cv().models.retinanet.PredictionHead:
        return head(maps)
    for layer in (*head.conv_layers, head.prediction_layer):
        maps = layer(maps)
    return maps


def _pyramid_maps(pyramid, maps):
    """The maps of a feature pyramid; that of keras-cv gives its smallest maps a wrong shape in graphs."""
    if type(pyramid) is not _keras_cv().models.retinanet.FeaturePyramid:
        return pyramid(maps)
    c3, c4, c5 = (maps[level] for level in ("P3", "P4", "P5"))
    p5 = pyramid.conv_c5_1x1(c5)
    p4 = layers.Add()([pyramid.conv_c4_1x1(c4), layers.UpSampling2D()(p5)])
    p3 = layers.Add()([pyramid.conv_c3_1x1(c3), layers.UpSampling2D()(p4)])
    p6 = pyramid.conv_c6_3x3(c5)
    p7 = pyramid.conv_c7_3x3(layers.ReLU()(p6))
    return [pyramid.conv_c3_3x3(p3), pyramid.conv_c4_3x3(p4), pyramid.conv_c5_3x3(p5), p6, p7]


def _retinanet_outputs(features, anchors, input_shape):
    decode = AnchorBoxes(len(anchors), tuple(input_shape)[:2], name="boxes")
    boxes = decode(features["differences"])
    decode.anchors.assign(anchors)
    return {"logits": features["logits"], "boxes": boxes}


def _anchors(detector, input_shape):
    """The anchors (anchors, 4), center x, center y, width and height as shares of the image."""
    generator = detector.anchor_generator
    levels = generator(image_shape=tuple(input_shape))
    found = _keras_cv().bounding_box.convert_format(
        np.concatenate([np.asarray(level) for level in levels.values()]),
        source=generator.bounding_box_format,
        target="rel_xyxy",
        image_shape=tuple(input_shape),
    )
    low, high = np.split(np.asarray(found), 2, axis=-1)
    return np.concatenate([(low + high) / 2, high - low], -1)


def _check_arguments(arguments):
    shape = blocks.check_image_shape(arguments["input_shape"])
    blocks.check_positive(arguments, "num_classes")
    if shape[0] % 32 or shape[1] % 32:
        raise InputError(f"input_shape has to be of multiples of 32; received input_shape={shape}")


def _keras_cv():
    try:
        import keras_cv
    except ImportError as error:
        raise MissingPackageError("this detector needs: pip install keras-cv") from error
    return keras_cv


for _name, (_channels, _depths, _pyramid) in YOLO_VARIANTS.items():
    register_model(
        _name,
        YOLOV8,
        input_shape=(640, 640, 3),
        num_classes=80,
        arguments={
            "channels": _channels,
            "depths": _depths,
            "pyramid_depth": _pyramid,
            "mean": 0.0,
            "std": 1.0,
        },
        is_borrowed=True,
    )
for _name, (_filters, _depths, _block) in RETINANET_VARIANTS.items():
    register_model(
        _name,
        RetinaNet,
        input_shape=(512, 512, 3),
        num_classes=80,
        arguments={"filters": _filters, "depths": _depths, "block": _block, "mean": 0.0, "std": 1.0},
        is_borrowed=True,
    )
