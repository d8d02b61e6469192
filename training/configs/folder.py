"""A folder of class folders, given as --images or --data_dir; the classes are the folders' names.

The size of images and their mean and standard deviation are found, and classes of different sizes are
balanced in the loss. The recipe is the HSViT paper's with a smaller batch, fewer epochs and less
augmentation, for a few thousand images.
"""

from ml_collections.config_dict import placeholder

from training.configs import hsvit_base


def get_config():
    config = hsvit_base.get_config()
    config.data = "folder"
    config.image_shape = placeholder(tuple)
    config.mean = placeholder(tuple)
    config.std = placeholder(tuple)
    config.class_weights = "balanced"
    config.augmentation = hsvit_base.flip_and_shift()
    config.batch_size = 32
    config.epochs = 100
    return config
