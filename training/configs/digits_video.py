"""A small TimeSformer that tells how handwritten digits move: done in a few minutes."""

from training.configs import digits


def get_config():
    config = digits.get_config()
    config.model = "timesformer_tiny"
    config.data = "digits_video"
    config.image_shape = (8, 24, 24, 1)
    config.mean = (0.067,)
    config.std = (0.171,)
    config.augmentation = (
        ("RandomTranslation", {"height_factor": 0.5, "width_factor": 0.5, "fill_mode": "wrap"}),
    )
    config.batch_size = 32
    config.epochs = 15
    config.learning_rate = 3e-3
    config.warmup_epochs = 2
    return config
