"""Small models of keras-hub and keras-cv, with random weights."""

import warnings

import keras
import numpy as np

SHAPE = (32, 32, 3)


def _packages():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import keras_cv
        import keras_hub
    return keras_hub.models, keras_cv.models


def _hub(name, **arguments):
    models, _ = _packages()
    shape = {"input_shape" if name == "EfficientNet" else "image_shape": SHAPE}
    backbone = getattr(models, f"{name}Backbone")(**shape, **arguments)
    classifier = getattr(models, f"{name}ImageClassifier")
    return classifier(backbone=backbone, preprocessor=None, num_classes=10)


def _cv(name, **arguments):
    _, models = _packages()
    backbone = getattr(models, f"{name}Backbone")(
        **{"input_shape": SHAPE, "include_rescaling": True, **arguments}
    )
    return models.ImageClassifier(backbone=backbone, num_classes=10)


_EFFICIENT = {
    "stackwise_kernel_sizes": [3, 3, 5],
    "stackwise_num_repeats": [1, 2, 1],
    "stackwise_input_filters": [8, 16, 16],
    "stackwise_output_filters": [16, 16, 24],
    "stackwise_expansion_ratios": [1, 4, 4],
    "stackwise_strides": [1, 2, 1],
}
_SQUEEZED = {**_EFFICIENT, "stackwise_squeeze_and_excite_ratios": [0.25] * 3}
_RESNET = {
    "input_conv_filters": [64],
    "input_conv_kernel_sizes": [7],
    "stackwise_num_filters": [64, 64],
    "stackwise_num_blocks": [1, 1],
    "stackwise_num_strides": [1, 2],
}
_TRANSFORMER = {"patch_size": 8, "num_layers": 2, "num_heads": 2, "hidden_dim": 16, "dropout_rate": 0.1}
_RESNET_CV = {"stackwise_filters": [8, 16], "stackwise_blocks": [2, 2], "stackwise_strides": [1, 2]}
_DARKNET = {
    "stackwise_channels": [8, 16, 16, 32],
    "stackwise_depth": [1, 1, 1, 1],
    "input_shape": (64, 64, 3),
}

# Squeezed and excited convolutions, attention, and a package of other layers.
A_FEW = ("hub MobileNet", "hub ViT", "cv EfficientNetV2")

MODELS = {
    "hub ResNet": lambda: _hub("ResNet", **_RESNET, block_type="basic_block"),
    "hub ResNetV2": lambda: _hub("ResNet", **_RESNET, block_type="bottleneck_block", use_pre_activation=True),
    "hub EfficientNet": lambda: _hub(
        "EfficientNet",
        **_SQUEEZED,
        stackwise_width_coefficients=[1.0] * 3,
        stackwise_depth_coefficients=[1.0] * 3,
        stackwise_block_types=["v1", "fused", "v1"],
    ),
    "hub MobileNet": lambda: _hub(
        "MobileNet",
        stackwise_expansion=[[40, 56], [64, 144]],
        stackwise_num_blocks=[2, 2],
        stackwise_num_filters=[[16, 16], [24, 24]],
        stackwise_kernel_size=[[3, 3], [5, 5]],
        stackwise_num_strides=[[2, 1], [2, 1]],
        stackwise_se_ratio=[[None, None], [0.25, 0.25]],
        stackwise_activation=[["relu", "relu"], ["hard_swish", "hard_swish"]],
        stackwise_padding=[[1, 1], [2, 2]],
        output_num_filters=64,
        input_activation="hard_swish",
        output_activation="hard_swish",
        input_num_filters=16,
        depthwise_filters=8,
        depthwise_stride=2,
        depthwise_residual=False,
        squeeze_and_excite=0.5,
        last_layer_filter=64,
    ),
    "hub DenseNet": lambda: _hub(
        "DenseNet", stackwise_num_repeats=[2, 2], compression_ratio=0.5, growth_rate=8
    ),
    "hub VGG": lambda: _hub("VGG", stackwise_num_repeats=[1, 1], stackwise_num_filters=[8, 16]),
    "hub Xception": lambda: _hub(
        "Xception",
        stackwise_conv_filters=[[8, 16], [16, 24, 24], [24, 32, 32]],
        stackwise_pooling=[False, True, False],
    ),
    "hub CSPNet": lambda: _hub(
        "CSPNet",
        stem_filters=8,
        stem_kernel_size=3,
        stem_strides=1,
        stackwise_num_filters=[8, 16],
        stackwise_strides=[1, 2],
        stackwise_depth=[1, 1],
        stage_type="dark",
        block_type="dark_block",
        bottle_ratio=[0.5, 1.0],
    ),
    "hub HGNetV2": lambda: _hub(
        "HGNetV2",
        depths=[1, 1],
        embedding_size=8,
        hidden_sizes=[16, 24],
        stem_channels=[3, 8, 8],
        hidden_act="relu",
        use_learnable_affine_block=True,
        stackwise_stage_filters=[[8, 8, 16, 1, 2, 3], [16, 8, 24, 1, 2, 3]],
        apply_downsample=[False, True],
        use_lightweight_conv_block=[False, True],
    ),
    "hub DeiT": lambda: _hub("DeiT", **_TRANSFORMER, intermediate_dim=32),
    "hub ViT": lambda: _hub("ViT", **_TRANSFORMER, mlp_dim=32),
    "hub MiT": lambda: _hub(
        "MiT",
        layerwise_depths=[1, 1],
        num_layers=2,
        hidden_dims=[8, 16],
        layerwise_num_heads=[1, 2],
        layerwise_sr_ratios=[2, 1],
        max_drop_path_rate=0.1,
        layerwise_patch_sizes=[7, 3],
        layerwise_strides=[4, 2],
    ),
    "hub Swin": lambda: _hub(
        "SwinTransformer", patch_size=4, embed_dim=8, depths=[2, 2], num_heads=[1, 2], window_size=4
    ),
    "cv ResNet": lambda: _cv(
        "ResNet",
        stackwise_filters=[64, 64],
        stackwise_blocks=[1, 1],
        stackwise_strides=[1, 2],
        block_type="basic_block",
    ),
    "cv ResNetV2": lambda: _cv("ResNetV2", **_RESNET_CV),
    "cv EfficientNetV1": lambda: _cv(
        "EfficientNetV1", **_SQUEEZED, width_coefficient=1.0, depth_coefficient=1.0
    ),
    "cv EfficientNetV2": lambda: _cv(
        "EfficientNetV2",
        **_SQUEEZED,
        width_coefficient=1.0,
        depth_coefficient=1.0,
        stackwise_conv_types=["fused", "fused", "unfused"],
    ),
    "cv EfficientNetLite": lambda: _cv(
        "EfficientNetLite", **_EFFICIENT, width_coefficient=1.0, depth_coefficient=1.0
    ),
    "cv DenseNet": lambda: _cv(
        "DenseNet", stackwise_num_repeats=[2, 2], compression_ratio=0.5, growth_rate=8
    ),
    "cv CSPDarkNet": lambda: _cv("CSPDarkNet", **_DARKNET),
    "cv MiT": lambda: _cv(
        "MiT", embedding_dims=[8, 16, 20, 32], depths=[1, 1, 1, 1], input_shape=(64, 64, 3)
    ),
}


def mobile_net_v3():
    """A model with an activation that is a layer whose configuration does not make it again."""
    return _cv(
        "MobileNetV3",
        stackwise_expansion=[1, 4.5, 4],
        stackwise_filters=[16, 24, 24],
        stackwise_kernel_size=[3, 3, 5],
        stackwise_stride=[2, 2, 1],
        stackwise_se_ratio=[0.25, None, 0.25],
        stackwise_activation=["relu", "relu", "hard_swish"],
    )


def yolo():
    """A detector, whose training is its own."""
    _, models = _packages()
    backbone = models.CSPDarkNetBackbone(include_rescaling=True, **_DARKNET)
    return models.YOLOV8Detector(num_classes=3, bounding_box_format="xywh", backbone=backbone, fpn_depth=1)


def retina_net():
    """Another one."""
    _, models = _packages()
    backbone = models.ResNetV2Backbone(
        stackwise_filters=[8, 16, 16, 16],
        stackwise_blocks=[2, 2, 2, 2],
        stackwise_strides=[1, 2, 2, 2],
        include_rescaling=True,
        input_shape=(64, 64, 3),
    )
    return models.RetinaNet(num_classes=3, bounding_box_format="xywh", backbone=backbone)


def model_named(name):
    """A model as if it was trained: with statistics, and biases that are not zero."""
    model, rng = MODELS[name](), np.random.default_rng(0)
    for layer in model._flatten_layers():
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.set_weights([rng.uniform(0.5, 1.5, weight.shape) for weight in layer.get_weights()])
    for weight in model.trainable_weights:
        if weight.name == "bias":
            weight.assign(rng.normal(0, 0.05, weight.shape))
    return model


def images_of(model, count=8):
    """Random images in the range that a model takes: keras-cv's rescale themselves."""
    largest = 255 if type(model).__module__.startswith("keras_cv") else 1
    shape = (count, *model.inputs[0].shape[1:])
    return np.random.default_rng(0).uniform(0, largest, shape).astype("float32")
