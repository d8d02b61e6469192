"""Which HSViT is most accurate for a third of the instructions of C2A2? On digits, with a short training."""

from training.configs import scaling_digits


def get_config():
    config = scaling_digits.get_config()
    config.training.update(
        {"learning_rate": 3e-3, "warmup_epochs": 0, "epochs": 6, "image_shape": (16, 16, 1)}
    )
    with config.unlocked():
        config.family = "hsvit"
        config.start = {
            "kernels": 16, "stages": 2, "kernel_size": 3, "groups": 8, "depth": 1, "num_heads": 4,
            "head_dim": 8, "image_size": 16,
        }  # fmt: skip
        config.factor_values = {"image_size": ()}
        config.targets = {"of": "hsvit_c2a2", "shares": (1 / 6, 1 / 3)}
        config.references = ("hsvit_c2a2",)
    return config
