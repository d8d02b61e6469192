"""DHVT on ImageNet: the supplement of https://arxiv.org/abs/2210.05958, section 4.1.

Augmentation and regularization are DeiT's, as the paper says. It does not name the epochs: 300 are those of
the authors' run_code_imn.sh (https://github.com/ArieSeirack/DHVT).
"""

from training.configs import deit_imagenet


def get_config():
    config = deit_imagenet.get_config()
    config.model = "dhvt_t_imagenet"
    config.batch_size = 512
    config.learning_rate = 5e-4
    config.warmup_epochs = 10
    return config
