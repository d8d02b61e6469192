"""Vision X-formers on CIFAR-10: Resource-efficient Hybrid X-formers for Vision, section 4.

The paper names the optimizer, the size of the batch and mixed precision (`--config.dtype=mixed_float16`). Its
Adam with decay of the weights is AdamW in the authors' program, HybridViN.py of
https://github.com/pranavphoenix/VisionXformer, which trains 40 epochs with one learning rate. Flip and shift
are ours.
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
    config.epochs = 40
    config.schedule = "step_decay"  # at no epoch
    config.clip_norm = None
    config.learning_rate = 1e-3
    config.weight_decay = 0.01
    return config
