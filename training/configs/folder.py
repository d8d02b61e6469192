"""A folder of class folders, given as --data_dir; the classes are the folders' names.

The recipe is the HSViT paper's with a smaller batch, fewer epochs and less augmentation, for a few thousand
images.
"""

from training.configs import hsvit_base


def get_config():
    config = hsvit_base.get_config()
    config.data = "folder"
    config.image_shape = (64, 64, 3)
    config.mean = (0.485, 0.456, 0.406)
    config.std = (0.229, 0.224, 0.225)
    config.augmentation = hsvit_base.flip_and_shift()
    config.batch_size = 32
    config.epochs = 100
    return config
