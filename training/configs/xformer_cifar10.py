"""Vision X-formers on CIFAR-10: Resource-efficient Hybrid X-formers for Vision, section 4.

The paper names the optimizer, the size of the batch and mixed precision (`--config.dtype=mixed_float16`). It
optimizes by Adam with decay of the weights, here it is AdamW, and says nothing of epochs and schedule: 100
epochs along a cosine are ours, like flip and shift.
"""

from training.configs import hsvit_base


def get_config():
    config = hsvit_base.get_config()
    config.model = "hybrid_vin"
    config.data = "cifar10"
    config.image_shape = (32, 32, 3)
    config.mean = (0.4914, 0.4822, 0.4465)
    config.std = (0.2470, 0.2435, 0.2616)
    config.augmentation = hsvit_base.flip_and_shift()
    config.batch_size = 64
    config.epochs = 100
    config.learning_rate = 1e-3
    config.weight_decay = 0.01
    return config
