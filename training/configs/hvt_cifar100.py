"""HVT on CIFAR-100: Scalable Vision Transformers with Hierarchical Pooling, section 5.

ImageNet's recipe with smaller batches; images are enlarged to the 224 pixels at which the paper counts.
"""

from training.configs import deit_imagenet, hvt_imagenet


def get_config():
    config = hvt_imagenet.get_config()
    config.model = "hvt_s_1"
    config.data = "cifar100"
    config.mean = (0.5071, 0.4865, 0.4409)
    config.std = (0.2673, 0.2564, 0.2762)
    config.augmentation = deit_imagenet.augmentation(config.mean, config.std)
    config.batch_size = 128
    config.learning_rate = 1.25e-4
    return config
