"""DHVT of ImageNet fine-tuned on CIFAR-100: the supplement of https://arxiv.org/abs/2210.05958, section 2.1.

It names AdamW with a cosine, warm-up, batch, learning rate, decay, epochs and the size of images; section 3.3
has the same for DomainNet's clipart, painting and sketch (`--config.data=domainnet_clipart`). Augmentation,
regularization and the learning rates around the cosine are DeiT's. The trained model is named by
`--config.init=M.keras`.
"""

from training.configs import dhvt_imagenet


def get_config():
    config = dhvt_imagenet.get_config()
    config.data = "cifar100"
    config.batch_size = 256
    config.epochs = 100
    config.warmup_epochs = 2
    config.learning_rate = 5e-4
    config.weight_decay = 1e-8
    return config
