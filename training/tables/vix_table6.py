"""Vision X-formers, Table 6: rotary positions on CIFAR-10; the paper prints no sizes here."""

from training.tables import vix


def get_table():
    def row(name, model, top1, top5, gigabytes):
        return vix.row("cifar10", name, model, None, None, top1, top5, gigabytes)

    rows = (
        row("ViT", "vit_rope", 69.32, 97.68, 14.4),
        row("ViP", "vip_rope", 60.74, 95.62, 5.2),
        row("ViL", "vil_rope", 55.88, 94.61, 2.7),
        row("ViN", "vin_rope", 68.36, 97.28, 5.2),
        row("Hybrid ViT", "hybrid_vit_rope", 76.90, 98.60, 14.5),
        row("Hybrid ViP", "hybrid_vip_rope", 76.86, 98.37, 5.2),
        row("Hybrid ViL", "hybrid_vil_rope", 64.40, 96.63, 2.7),
        row("Hybrid ViN", "hybrid_vin_rope", 74.38, 97.64, 5.2),
    )
    return vix.table(6, "cifar10", rows)
