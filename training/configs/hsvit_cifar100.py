"""HSViT on CIFAR-100, by the paper's recipe; C4A8 reaches 73.85 % there."""

from training.configs import hsvit_base


def get_config():
    config = hsvit_base.get_config()
    config.data = "cifar100"
    config.image_shape = (32, 32, 3)
    config.mean = (0.5071, 0.4867, 0.4408)
    config.std = (0.2675, 0.2565, 0.2761)
    return config
