"""Vision X-formers, Table 1: accuracy and requirements on CIFAR-10."""

import functools

from training.tables import vix


def get_table():
    row = functools.partial(vix.row, "cifar10")
    rows = (
        row("Vision Transformer (ViT)", "vit", "530,442", 209.39, 56.81, 94.82, 14.1),
        row("Vision Performer (ViP)", "vip", "531,978", 85.15, 58.23, 94.89, 5.0),
        row("Vision Linformer (ViL)", "vil", "415,754", 77.70, 57.45, 95.11, 2.2),
        row("Vision Nyströmformer (ViN)", "vin", "530,970", 86.62, 65.06, 96.42, 4.8),
        row("FNet", "fnet", "267,786", 60.12, 50.87, 93.22, 1.5),
        row("MLP Mixer", "mlp_mixer", "8,533,002", 90.59, 60.33, 95.79, 1.4),
        row("Hybrid Vision Transformer (ViT)", "hybrid_vit", "623,178", 211.47, 73.94, 98.08, 14.1),
        row("Hybrid Vision Performer (ViP)", "hybrid_vip", "624,714", 87.23, 74.98, 98.41, 5.0),
        row("Hybrid Vision Linformer (ViL)", "hybrid_vil", "508,490", 79.78, 63.17, 95.75, 2.2),
        row("Hybrid Vision Nyströmformer (ViN)", "hybrid_vin", "623,706", 88.70, 75.26, 98.39, 4.8),
        row("Hybrid FNet", "hybrid_fnet", "360,522", 62.20, 64.34, 96.95, 1.6),
        row("Hybrid MLP Mixer", "hybrid_mlp_mixer", "8,625,738", 92.67, 61.58, 96.26, 1.4),
    )
    return vix.table(1, "cifar10", rows)
