"""HSViT on ImageNet, by the paper's recipe at its largest image size; the choice of size is ours."""

from training.configs import hsvit_base


def get_config():
    config = hsvit_base.get_config()
    config.data = "imagenet"
    config.image_shape = (128, 128, 3)
    config.mean = (0.485, 0.456, 0.406)
    config.std = (0.229, 0.224, 0.225)
    return config
