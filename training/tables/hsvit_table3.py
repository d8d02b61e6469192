"""HSViT, Table 3: comparison of top-1 accuracy with state-of-the-art schemes.

Parameters are those on Tiny-ImageNet at 64 x 64. The authors' programs enlarge the images of CIFAR and
Fashion-MNIST to 64 x 64 for the models that HSViT is compared with, but for ViT and CvT, which take 32 x 32.
"""

from training.tables import hsvit
from training.tabulating.paper import Row, Table

_SLOWER = {"learning_rate": 1e-4}  # the table's third footnote


def get_table():
    return Table(
        title="HSViT, Table 3",
        paper=hsvit.PAPER,
        recipes=hsvit.RECIPES,
        notes=hsvit.NOTES,
        rows=(
            _row("ResNet-18", "resnet18", "20 + 0", "11.3 M", 92.56, 69.08, 95.63, 52.42, 69.36),
            _row("ResNet-50", "resnet50", "53 + 0", "23.9 M", 93.69, 71.03, 95.92, 56.02, 74.78),
            _row(
                "EfficientNet-B0", "efficientnet_b0", "81 + 0", "4.3 M", 90.69, 68.41, 95.26, 50.17, 73.55,
            ),
            _row(
                "EfficientNet-B3", "efficientnet_b3", "130 + 0", "11.0 M", 90.57, 68.77, 87.17, 48.85, 73.65
            ),
            _row("MobileNetV2-1.0", "mobilenet_v2_100", "37 + 0", "2.5 M", 92.12, 66.25, 95.22, 48.07, 69.58),
            _row("MobileNetV2-1.4", "mobilenet_v2_140", "37 + 0", "4.7 M", 92.62, 69.62, 95.74, 54.12, 75.85),
            _row(
                "ViT-B", "vit_base", "0 + 12", "85.4 M", 83.33, 62.10, 93.55, 55.51, 73.64, training=_SLOWER
            ),
            _row("MobileViT-XS", "mobilevit_xs", "35 + 9", "2.0 M", 93.09, 70.83, 95.53, 53.89, 75.45),
            _row("MobileViT-S", "mobilevit_s", "35 + 9", "5.1 M", 92.87, 70.97, 95.73, 55.73, 68.00),
            _row(
                "EfficientFormer-L1", "efficientformer_l1", "33 + 1", "11.6 M",
                92.57, 72.79, 95.87, 56.29, 75.28,
            ),
            _row(
                "EfficientFormer-L3", "efficientformer_l3", "49 + 4", "30.6 M",
                93.34, 73.82, 95.71, 58.99, 77.21,
            ),
            _row("SwiftFormer-XS", "swiftformer_xs", "61 + 4", "3.1 M", 92.34, 68.19, 95.61, 51.97, 69.82),
            _row("SwiftFormer-S", "swiftformer_s", "76 + 4", "5.7 M", 92.56, 68.23, 95.87, 52.81, 71.12),
            _row(
                "CvT-13", "cvt_13", "16 + 13", "19.7 M", 87.91, 63.32, 94.76, 49.97, 61.44,
                training_on={"food101": _SLOWER},
            ),
            _row(
                "CvT-21", "cvt_21", "24 + 21", "31.3 M", 87.65, 61.93, 94.89, 47.40, 62.21,
                training_on={"tiny_imagenet": _SLOWER},
            ),
            _row("HSViT-C2A2", "hsvit_c2a2", "4 + 2", "0.8 M", 90.64, 67.84, 95.10, 50.50, 67.88),
            _row("HSViT-C3A4", "hsvit_c3a4", "6 + 4", "2.3 M", 93.04, 72.46, 95.72, 56.73, 73.54),
            _row("HSViT-C4A8", "hsvit_c4a8", "8 + 8", "6.9 M", 94.04, 73.85, 95.92, 59.25, 79.06),
        ),
    )  # fmt: skip


def _row(name, model, layers, parameters, *accuracy, **others):
    found = dict(zip(hsvit.RECIPES, accuracy, strict=True))
    size = None if model.startswith("hsvit") else 32 if model.startswith(("vit", "cvt")) else 64
    return Row(name, model, accuracy=found, layers=layers, parameters=parameters, least_size=size, **others)
