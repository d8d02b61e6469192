"""A small U-Net that finds the pixels of handwritten digits, and which digit each belongs to."""

from training.configs import digits


def get_config():
    config = digits.get_config()
    config.model = "unet_tiny"
    config.data = "digits_segmentation"
    config.mean = (0.5,)
    config.std = (0.25,)
    config.augmentation = (
        ("RandomTranslation", {"height_factor": 0.1, "width_factor": 0.1, "fill_mode": "nearest"}),
    )
    config.batch_size = 32
    config.epochs = 60
    config.learning_rate = 0.01
    return config
