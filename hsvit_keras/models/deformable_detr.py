"""Deformable DETR: deformable transformers for end-to-end object detection, https://arxiv.org/abs/2010.04159.

A backbone makes maps of an image; pixels of all maps attend to each other; learned queries attend to each
other and to the pixels, and each says what it has found and where. Nothing is removed afterwards.

Differs from the authors' program: one class head serves all decoder layers with box refinement, too, as it
does without; the first map of a DeiT is its only one, as in An Investigation on Hardware-Aware Vision
Transformer Scaling. The two-stage form is left out.
"""

import keras

from hsvit_keras.models import blocks
from hsvit_keras.models.deformable_transformer import SIZES, detections, queries_of_maps
from hsvit_keras.models.image_model import ImageModel, constructor_arguments
from hsvit_keras.models.registry import create_model, register_model
from hsvit_runtime.errors import InputError

_RESNET = ("stage1", "stage2", "stage3")  # strides 8, 16, 32
IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
INPUT_SHAPE = (320, 320, 3)  # of mobile detectors; the papers train on images of up to 1333 x 800
COCO_CLASSES = 91  # as the authors count: the largest category id of COCO, and 0
# Backbone, its features, how many levels are made of them. Appendix A.4: of a ResNet three maps and one more.
# The scaling paper, section 4.3.2 and appendix C: of a DeiT the map in front of the last normalization.
VARIANTS = {
    "resnet50": ("resnet50", _RESNET, 4),
    "mobilenet_v2": ("mobilenet_v2_100", ("stage2", "stage4", "stage6"), 4),
    "hsvit": ("hsvit_c3a4", ("stage1", "stage2"), 4),
    "deit_tiny": ("deit_tiny", ("map",), 4),
    "deit_small": ("deit_small", ("map",), 4),
    "deit_scaled_tiny": ("deit_scaled_tiny", ("map",), 4),
    "deit_scaled_small": ("deit_scaled_small", ("map",), 4),
}


@keras.saving.register_keras_serializable("hsvit_keras")
class DeformableDETR(ImageModel):
    """Deformable DETR, a Functional graph from images to a dict of `logits` and `boxes`.

    `logits` `(batch, queries, classes)` are those of a sigmoid each; `boxes` `(batch, queries, 4)` are center
    x, center y, width and height, relative to the image. `with_auxiliary_outputs` gives what training needs
    besides.

    Features: `queries` `(batch, queries, dim)`, those behind the decoder; `references`, the logits of the
    points or boxes that they stand for; `encoded`, the pixels of all maps behind the encoder. The head reads
    the first two.

    Args:
        input_shape: (height, width, channels) in pixels.
        num_classes: int, logits of a query.
        backbone: str, the name of a registered model.
        backbone_arguments: dict of arguments of its class, or None for those of the name.
        backbone_features: sequence of str, those of its features that become maps, the largest first.
        num_levels: int, maps; those that the backbone does not give are made of its last, each half as high
            and wide as the one before.
        hidden_dim: int, length of a token.
        num_heads: int; divides `hidden_dim`.
        encoder_layers: int.
        decoder_layers: int.
        mlp_dim: int, hidden width of the feed-forward.
        encoder_points: int, pixels that a head reads of each map.
        decoder_points: int, likewise.
        num_queries: int, boxes.
        box_refinement: bool, whether each decoder layer refines the boxes of the one before.
        group_norm_groups: int; divides `hidden_dim`.
        dropout_rate: float in [0, 1).
        dtype: dtype policy of all layers; the global one by default. Boxes are computed in float32.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    Example:

    ```python
    model = hsvit_keras.create_model("deformable_detr_tiny")
    found = model(np.zeros((1, 96, 96, 3), "float32"))  # {"boxes": (1, 20, 4), "logits": (1, 20, 10)}
    ```

    References:
        - [Deformable DETR](https://arxiv.org/abs/2010.04159), section 4 and appendix A
        - An Investigation on Hardware-Aware Vision Transformer Scaling, Table 7
    """

    task = "detection"

    def __init__(
        self,
        input_shape=INPUT_SHAPE,
        num_classes=COCO_CLASSES,
        backbone="resnet50",
        backbone_arguments=None,
        backbone_features=_RESNET,
        num_levels=4,
        hidden_dim=256,
        num_heads=8,
        encoder_layers=6,
        decoder_layers=6,
        mlp_dim=1024,
        encoder_points=4,
        decoder_points=4,
        num_queries=300,
        box_refinement=False,
        group_norm_groups=32,
        dropout_rate=0.1,
        head="detection",
        dtype=None,
        name="deformable_detr",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        check_arguments(arguments)

        def build_features(image):
            return queries_of_maps(_backbone(arguments)(image), arguments)

        def build_head(features):
            return detections(features, arguments)

        super().__init__(build_features, build_head, arguments, head=head, **kwargs)


def check_arguments(arguments):
    """Checks the arguments of the transformer.

    Raises:
        ValueError: one has a value that does not fit.
    """
    blocks.check_image_shape(arguments["input_shape"])
    blocks.check_positive(arguments, "num_classes", *SIZES)
    for divisor in ("num_heads", "group_norm_groups"):
        blocks.check_divides(divisor, arguments[divisor], "hidden_dim", arguments["hidden_dim"])
    if arguments["hidden_dim"] % 4:
        raise InputError(
            f"hidden_dim has to be a multiple of 4, for sines and cosines of rows and of columns; "
            f"received hidden_dim={arguments['hidden_dim']}"
        )
    blocks.check_rate("dropout_rate", arguments["dropout_rate"])


def _backbone(arguments):
    """A model inside the model, from the image to the maps, without what only its own head would read."""
    features = arguments["backbone_features"]
    whole = create_model(
        arguments["backbone"],
        input_shape=arguments["input_shape"],
        head=None,
        **arguments["backbone_arguments"] or {},
    )
    unknown = [name for name in features if name not in whole.output or len(whole.output[name].shape) != 4]
    if unknown or not 1 <= len(features) <= arguments["num_levels"]:
        maps = [name for name, feature in whole.output.items() if len(feature.shape) == 4]
        raise InputError(
            f"backbone_features has to be 1 to num_levels={arguments['num_levels']} of the maps "
            f"{', '.join(maps)} of {arguments['backbone']}; received backbone_features={features}"
        )
    return keras.Model(whole.input, [whole.output[name] for name in features], name="backbone")


def _register(name, arguments, input_shape=INPUT_SHAPE, num_classes=COCO_CLASSES):
    register_model(
        f"deformable_detr_{name}",
        DeformableDETR,
        input_shape=input_shape,
        num_classes=num_classes,
        arguments=arguments,
    )


for _name, (_model, _features, _levels) in VARIANTS.items():
    _arguments = {
        "backbone": _model, "backbone_features": _features, "num_levels": _levels, **IMAGENET,
    }  # fmt: skip
    _register(_name, _arguments)

# Ours, for demonstrations and tests: scenes of digits, trained from the start on two cores.
_register(
    "tiny",
    {
        "backbone": "resnet18",
        "backbone_arguments": {
            "stem_filters": 16, "filters": (32, 64, 96), "depths": (1, 1, 1), "strides": (1, 2, 2),
        },
        "backbone_features": ("stage1", "stage2"),
        "num_levels": 3, "hidden_dim": 64, "num_heads": 4, "encoder_layers": 1, "decoder_layers": 3,
        "mlp_dim": 128, "num_queries": 20, "box_refinement": True, "dropout_rate": 0.0,
        "group_norm_groups": 16, "mean": 0.5, "std": 0.25,
    },
    input_shape=(96, 96, 3),
    num_classes=10,
)  # fmt: skip
