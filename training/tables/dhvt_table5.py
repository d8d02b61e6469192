"""DHVT's supplement, Table 5: batch or layer normalization in SOPE and in DAFF, on CIFAR-100.

"BN-LN" has batch normalization in SOPE and layer normalization in DAFF. Each is trained in batches of three
sizes; a batch_size of --setting holds for all rows. The learning rate is the recipe's in all of them.
"""

from training.tables import dhvt

_KINDS = {"BN": "batch", "LN": "layer"}
_ACCURACY = {
    "BN-BN": (79.69, 80.31, 80.98),
    "BN-LN": (78.69, 79.55, 79.25),
    "LN-BN": (79.24, 80.02, 80.26),
    "LN-LN": (78.46, 79.09, 78.90),
}


def get_table():
    rows = []
    for name, accuracies in _ACCURACY.items():
        embedding, mlp = (_KINDS[kind] for kind in name.split("-"))
        for batch_size, top1 in zip((128, 256, 512), accuracies, strict=True):
            rows.append(
                dhvt.ablation(
                    f"{name}, batches of {batch_size}",
                    top1,
                    {"embedding_norm": embedding, "mlp_norm": mlp},
                    training={"batch_size": batch_size},
                )
            )
    return dhvt.table("Table 5", dhvt.RECIPES, rows, image_size=32)
