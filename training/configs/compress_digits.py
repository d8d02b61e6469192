"""Half the groups of an HSViT on digits, pruned and in 8 bits, with the original as teacher: two minutes."""

from training.configs import compress_base, digits


def get_config():
    config = compress_base.get_config()
    config.augmentation = digits.get_config().augmentation
    config.steps = (
        ("slim", {"groups": 0.5, "epochs": 8, "learning_rate": 3e-3}),
        ("prune", {"sparsity": 0.5, "epochs": 4}),
        ("quantize", {"epochs": 2, "learning_rate": 1e-4}),
    )
    return config
