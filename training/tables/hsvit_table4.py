"""HSViT, Table 4: ablation study on CIFAR-10 and CIFAR-100.

Without convolutions a colour channel of the image is a token, whose length is all its pixels. As in the
authors' program the image is brought to 8 x 8 for that, the size of the feature maps of the others.
"""

from training.tables import hsvit
from training.tabulating.paper import Row, Table

_SIDE = 8


def get_table():
    return Table(
        title="HSViT, Table 4",
        paper=hsvit.PAPER,
        recipes={data: hsvit.RECIPES[data] for data in ("cifar10", "cifar100")},
        notes=hsvit.NOTES,
        image_size=32,
        rows=(
            *_ablated("C2A2", (60.43, 32.29), (87.36, 37.92), (90.64, 67.84)),
            *_ablated("C3A4", (63.52, 35.17), (91.87, 42.83), (93.04, 72.46)),
            *_ablated("C4A8", (64.73, 37.29), (93.32, 43.51), (94.04, 73.85)),
        ),
    )


def _ablated(name, attention_alone, convolution_alone, both):
    model = f"hsvit_{name.lower()}"
    for kind, arguments, size, accuracy in (
        ("attention alone", {"use_convolution": False, "hidden_dim": _SIDE**2}, _SIDE, attention_alone),
        ("convolution alone", {"attention_groups": 0}, None, convolution_alone),
        ("both", {}, None, both),
    ):
        found = dict(zip(("cifar10", "cifar100"), accuracy, strict=True))
        yield Row(f"HSViT-{name}: {kind}", model, arguments, found, image_size=size)
