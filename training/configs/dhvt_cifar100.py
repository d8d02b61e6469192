"""DHVT on CIFAR-100 from scratch: run_code_cifar.sh of https://github.com/ArieSeirack/DHVT.

The supplement of https://arxiv.org/abs/2210.05958 names the size of the batch (Table 5) and, in section 2.1,
a recipe for fine-tuning alone. What the script leaves out is DeiT's, but for teachers; DeiT's program shifts
images of 32 pixels by up to four where it crops larger ones, and evaluates the whole of them. Positions of
head tokens and the offsets of affine transformations decay in the authors' program, and not here.
"""

from training.configs import deit_imagenet, hsvit_base

# Evenly by -4 to 4 whole pixels: shares of the side between -4.5 and 4.5 pixels, rounded.
_FACTOR = 4.5 / 32
_SHIFT = (
    "RandomTranslation",
    {"height_factor": _FACTOR, "width_factor": _FACTOR, "fill_mode": "constant", "interpolation": "nearest"},
)


def get_config():
    config = deit_imagenet.get_config()
    config.model = "dhvt_t_cifar_p4"
    config.data = "cifar100"
    config.mean = (0.5071, 0.4865, 0.4409)
    config.std = (0.2673, 0.2564, 0.2762)
    config.image_shape = (32, 32, 3)
    _, *rest = deit_imagenet.augmentation(config.mean, config.std)
    config.augmentation = (_SHIFT, *rest)
    config.evaluation_crop = hsvit_base.get_config().evaluation_crop
    config.batch_size = 512
    config.learning_rate = 1e-3
    config.warmup_epochs = 5
    return config
