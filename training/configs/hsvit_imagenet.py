"""HSViT on ImageNet, by the paper's recipe at its largest image size; the choice of size is ours.

The augmentation is that of the authors' program, as far as it is known: numbers that it may set otherwise are
torchvision's defaults, such as the chance and the black, which is the mean, of erasing.
"""

from training.configs import hsvit_base


def get_config():
    config = hsvit_base.get_config()
    config.data = "imagenet"
    config.image_shape = (128, 128, 3)
    config.mean = (0.485, 0.456, 0.406)
    config.std = (0.229, 0.224, 0.225)
    config.augmentation = (
        ("RandomResizedCrop", {"area": (0.08, 1.0), "aspect": (3 / 4, 4 / 3), "interpolation": "bilinear"}),
        ("RandomFlip", {"mode": "horizontal"}),
        ("TrivialAugmentWide", {"interpolation": "bilinear"}),
        (
            "RandomErasing",
            {"chance": 0.5, "area": (0.02, 0.33), "aspect": (0.3, 3.3), "mean": config.mean, "std": 0},
        ),
        ("MixUpOrCutMix", {"mixup_alpha": 1.0, "cutmix_alpha": 1.0, "cutmix_chance": 0.5}),
    )
    return config
