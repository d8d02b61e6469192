"""Little data: models of the papers and those they compare with, trained from scratch by one recipe.

No paper prints these figures; docs/small_data.md says what they show. Patches of 16 pixels would leave images
of 32 x 32 four tokens, so that ViTs take patches of 4 here. The recipe is ours: AdamW at DeiT's decay, five
epochs of warm-up, and images that are shifted by up to an eighth, which keeps digits and clothes what they
are. No model's authors chose it.
"""

import functools

from training.configs import hsvit_base
from training.tabulating.paper import Row, Table


def get_table():
    return Table(
        title="Small data",
        paper="none: docs/small_data.md",
        recipes={
            "digits": functools.partial(_recipe, "digits", 0.305, 0.324, epochs=60),
            "fashion_mnist": functools.partial(_recipe, "fashion_mnist", 0.286, 0.353, epochs=30),
        },
        rows=(
            Row("HSViT-C2A2", "hsvit_c2a2"),
            Row("HSViT-tiny", "hsvit_tiny"),
            Row("CCT", "cct"),
            Row("DHVT-T", "dhvt_t_cifar_p4"),
            Row("DeiT-Ti", "deit_tiny", {"patch_size": 4}),
            Row("HVT-Ti-1", "hvt_ti_1", {"patch_size": 4}),
            Row("PiT-Ti", "pit_ti", {"patch_size": 4, "patch_stride": 2}),
            Row("ResNet-18", "resnet18"),
            Row("MobileNetV2-1.0", "mobilenet_v2_100"),
            Row("EfficientNet-B0", "efficientnet_b0"),
            Row("MobileViT-XS", "mobilevit_xs"),
            Row("SwiftFormer-XS", "swiftformer_xs"),
            Row("EfficientFormer-L1", "efficientformer_l1"),
            Row("CvT-13", "cvt_13"),
        ),
        image_size=32,
    )


def _recipe(data, mean, std, epochs):
    """Gives the recipe for a data set of grey images.

    Args:
        data: str, the data set.
        mean, std: float, of its pixels of 0 to 1.
        epochs: int.
    """
    config = hsvit_base.get_config()
    config.data = data
    config.image_shape = (32, 32, 1)
    config.mean, config.std = (mean,), (std,)
    config.augmentation = (
        ("RandomTranslation", {"height_factor": 0.125, "width_factor": 0.125, "fill_mode": "constant"}),
    )
    config.batch_size = 64
    config.epochs = epochs
    config.learning_rate = 1e-3
    config.warmup_epochs = 5
    config.weight_decay = 0.05
    config.update({"epsilon": 1e-7, "schedule": "cosine", "clip_norm": 1.0, "decay_kernels_only": True})
    config.dtype = "mixed_bfloat16"
    return config
