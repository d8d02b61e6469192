"""DHVT's supplement, section 2.2.2: the affine transformations around SOPE, on CIFAR-100."""

from training.tables import dhvt


def get_table():
    without, vit = {"affine": False}, {**dhvt.VIT, **dhvt.SOPE}
    rows = (
        dhvt.ablation("DHVT", 80.90, {}),
        dhvt.ablation("DHVT w/o affine", 80.72, without),
        dhvt.ablation("ViT + SOPE", 73.68, vit),
        dhvt.ablation("ViT + SOPE w/o affine", 73.42, {**vit, **without}),
    )
    return dhvt.table("section 2.2.2", dhvt.RECIPES, rows, image_size=32)
