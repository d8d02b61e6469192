"""PiT and PiT-Scaled on ImageNet: Hardware-Aware Vision Transformer Scaling, appendix E.

DeiT's recipe; the paper optimizes by AdamP, here it is AdamW.
"""

from training.configs import deit_imagenet


def get_config():
    config = deit_imagenet.get_config()
    config.model = "pit_ti"
    return config
