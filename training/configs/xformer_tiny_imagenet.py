"""Vision X-formers on Tiny-ImageNet: Resource-efficient Hybrid X-formers for Vision, section 4.

CIFAR-10's recipe. A stride of 2, patches of 2 x 2 where a model has patches, gives 1,024 tokens as there: the
sequence of the paper's Table 2.
"""

from training.configs import xformer_cifar10


def get_config():
    config = xformer_cifar10.get_config()
    config.data = "tiny_imagenet"
    config.image_shape = (64, 64, 3)
    config.mean = (0.4802, 0.4481, 0.3975)
    config.std = (0.2770, 0.2691, 0.2821)
    config.model_arguments = {"embedding_stride": 2}
    return config
