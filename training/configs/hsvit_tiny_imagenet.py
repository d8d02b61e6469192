"""HSViT on Tiny-ImageNet, by the paper's recipe; C4A8 reaches 59.25 % there."""

from training.configs import hsvit_base


def get_config():
    config = hsvit_base.get_config()
    config.data = "tiny_imagenet"
    config.image_shape = (64, 64, 3)
    config.mean = (0.4802, 0.4481, 0.3975)
    config.std = (0.2770, 0.2691, 0.2821)
    return config
