"""Vision X-formers, Table 2: accuracy and requirements on Tiny-ImageNet.

Patches of 2 x 2, or a stride of 2 in the first convolution, make 1,024 tokens of 64 x 64 pixels.
"""

import functools

from training.tables import vix


def get_table():
    row = functools.partial(vix.row, "tiny_imagenet")
    patches, stride = {"patch_size": 2}, {"embedding_stride": 2}
    rows = (
        row("Vision Transformer (ViT)", "vit", "556,104", 209.59, 26.43, 51.82, 14.1, **patches),
        row("Vision Performer (ViP)", "vip", "557,640", 85.35, 28.17, 53.93, 4.4, **patches),
        row("Vision Linformer (ViL)", "vil", "441,416", 77.90, 24.38, 49.31, 2.0, **patches),
        row("Vision Nyströmformer (ViN)", "vin", "556,632", 86.82, 30.17, 55.97, 3.6, **patches),
        row("FNet", "fnet", "293,448", 60.32, 22.75, 49.85, 1.5, **patches),
        row("MLP Mixer", "mlp_mixer", "8,558,664", 90.79, 18.47, 42.16, 1.2, **patches),
        row("Hybrid Vision Transformer (ViT)", "hybrid_vit", "647,688", 211.60, 34.48, 60.79, 14.1, **stride),
        row("Hybrid Vision Performer (ViP)", "hybrid_vip", "649,224", 87.36, 34.13, 60.42, 4.4, **stride),
        row("Hybrid Vision Linformer (ViL)", "hybrid_vil", "533,000", 79.91, 26.90, 52.88, 2.2, **stride),
        row(
            "Hybrid Vision Nyströmformer (ViN)", "hybrid_vin", "648,216", 88.83, 34.05, 60.80, 3.6, **stride
        ),
        row("Hybrid FNet", "hybrid_fnet", "385,032", 62.33, 26.39, 51.86, 1.6, **stride),
        row("Hybrid MLP Mixer", "hybrid_mlp_mixer", "8,650,248", 92.80, 22.76, 47.33, 1.2, **stride),
    )  # fmt: skip
    return vix.table(2, "tiny_imagenet", rows)
