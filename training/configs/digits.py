"""A small HSViT on the 1,797 handwritten digits of scikit-learn: real images, and done in two minutes."""

from training.configs import hsvit_base


def get_config():
    config = hsvit_base.get_config()
    config.model = "hsvit_tiny"
    config.data = "digits"
    config.image_shape = (32, 32, 1)
    config.mean = (0.305,)
    config.std = (0.324,)
    config.augmentation = (
        ("RandomTranslation", {"height_factor": 0.1, "width_factor": 0.1, "fill_mode": "constant"}),
        ("RandomRotation", {"factor": 0.03, "fill_mode": "constant"}),
        ("RandomZoom", {"height_factor": 0.1, "fill_mode": "constant"}),
    )
    config.batch_size = 64
    config.epochs = 15
    config.learning_rate = 3e-3
    config.num_workers = 0
    config.update({"epsilon": 1e-7, "schedule": "cosine", "clip_norm": None})  # as Keras has them
    return config
