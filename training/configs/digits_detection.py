"""A small Deformable DETR that finds handwritten digits in scenes of one to eight of them."""

from training.configs import digits


def get_config():
    config = digits.get_config()
    config.model = "deformable_detr_tiny"
    config.data = "digits_detection"
    config.image_shape = (64, 64, 1)
    config.mean = (0.5,)
    config.std = (0.25,)
    config.augmentation = (("RandomPartOrWhole", {"chance": 0.5}),)
    config.batch_size = 32
    config.epochs = 20
    config.learning_rate = 1e-3
    config.warmup_epochs = 1
    config.weight_decay = 1e-4
    config.clip_norm = 0.1
    config.ema_momentum = 0.998
    config.validation.share = 0.05
    return config
