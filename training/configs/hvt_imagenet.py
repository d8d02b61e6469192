"""HVT on ImageNet: Scalable Vision Transformers with Hierarchical Pooling, section 5.

What the paper does not name is DeiT's.
"""

from training.configs import deit_imagenet


def get_config():
    config = deit_imagenet.get_config()
    config.model = "hvt_ti_1"
    config.learning_rate = 5e-4
    config.weight_decay = 0.025
    return config
