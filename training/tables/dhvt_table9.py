"""DHVT's supplement, Table 9: comparison on ImageNet at 224 x 224.

Of the models compared with, those of the package are trained by DHVT's recipe; the paper prints what each
model's own authors reached.
"""

from training.configs import dhvt_imagenet
from training.tables import dhvt
from training.tabulating.paper import Row


def get_table():
    rows = (
        _row("RegNetY-800MF", "6.3", "0.8", 76.3),
        _row("RegNetY-4.0GF", "20.6", "4.0", 79.4),
        _row("ConvNeXt-T", "29", "4.5", 82.1),
        _row("T2T-ViT-7", "4.3", "1.2", 71.7),
        _row("DeiT-T", "5.7", "1.1", 72.2, "deit_tiny"),
        _row("PiT-Ti", "4.9", "0.7", 72.9, "pit_ti"),
        _row("ConViT-Ti", "5.7", "1.4", 73.1),
        _row("CrossViT-Ti", "6.9", "1.6", 73.4),
        _row("TNT-T", "6.2", "1.4", 73.6),
        _row("LocalViT-T", "5.9", "1.3", 74.8),
        _row("ViTAE-T", "4.8", "1.5", 75.3),
        _row("CeiT-T", "6.4", "1.2", 76.4),
        _row("DHVT-T", "6.2", "1.2", 76.5, "dhvt_t_imagenet"),
        _row("DeiT-S", "22.1", "4.3", 79.8, "deit_small"),
        _row("PVT-S", "24.5", "3.8", 79.8),
        _row("PiT-S", "23.5", "2.9", 80.9, "pit_s"),
        _row("CrossViT-S", "26.7", "5.6", 81.0),
        _row("PVT-Medium", "44.2", "6.7", 81.2),
        _row("Conformer-Ti", "23.5", "5.2", 81.3),
        _row("Swin-T", "29.0", "4.5", 81.3),
        _row("ConViT-S", "27.8", "5.4", 81.3),
        _row("TNT-S", "23.8", "5.2", 81.3),
        _row("T2T-ViT-14", "21.5", "5.2", 81.5),
        _row("NesT-T", "17.0", "5.8", 81.5),
        _row("CvT-13", "20.0", "4.5", 81.6, "cvt_13"),
        _row("Twins-SVT-S", "24.0", "2.8", 81.7),
        _row("CaiT-XS24", "26.6", "5.4", 81.8),
        _row("CoaT-Lite Small", "20.0", "4.0", 81.9),
        _row("CeiT-S", "24.2", "4.5", 82.0),
        _row("ViL-S", "24.6", "4.9", 82.0),
        _row("PVTv2-B2", "25.4", "4.0", 82.0),
        _row("ViTAE-S", "23.6", "5.6", 82.0),
        _row("LG-T", "32.6", "4.8", 82.1),
        _row("Focal-T", "29.1", "4.9", 82.2),
        _row("DHVT-S", "24.1", "4.7", 82.3, "dhvt_s_imagenet"),
    )
    return dhvt.table("Table 9", {"imagenet": dhvt_imagenet.get_config}, rows, image_size=224)


def _row(name, parameters, gflops, top1, model=None):
    return Row(
        name,
        model,
        accuracy={"imagenet": top1},
        parameters=f"{parameters} M",
        multiply_adds=f"{gflops} G",
        why_not="" if model else "the model is not in the package",
    )
