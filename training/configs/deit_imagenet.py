"""DeiT and DeiT-Scaled on ImageNet: Hardware-Aware Vision Transformer Scaling, appendix E.

It names the optimization; label smoothing and augmentation are those of DeiT (https://arxiv.org/abs/2012.12877,
Table 9, and its program). Of the augmentation one thing differs: the three views of an image are at least a
sixth of an epoch apart; the program gives them to different devices at once.

From DeiT's program (https://github.com/facebookresearch/deit) are the learning rates around the cosine, which
it changes once an epoch, epsilon, no clipping, stochastic depth, and that biases, normalizations, positions
and tokens do not decay. It is one epoch late: its first two have the learning rate of the warm-up.

Both papers distil from RegNetY-16GF, in hard labels on the distillation token:
`--config.model=deit_tiny_distilled --config.distillation.teachers="('regnety_160.onnx',)"`; without a teacher
the recipe is that of the models without the token.
"""

from training.configs import hsvit_base

# Of tables that are trained by it.
NOTE = "augmentation is that of DeiT's program but for what training/configs/deit_imagenet.py says"


def get_config():
    config = hsvit_base.get_config()
    config.model = "deit_tiny"
    config.data = "imagenet"
    config.image_shape = (224, 224, 3)
    config.mean = (0.485, 0.456, 0.406)
    config.std = (0.229, 0.224, 0.225)
    config.augmentation = augmentation(config.mean, config.std)
    config.views = 3
    config.evaluation_crop = {"share": 0.875, "interpolation": "bicubic"}
    config.batch_size = 1024
    config.epochs = 300
    config.learning_rate = 1e-3  # 5e-4 * batch_size / 512
    config.warmup_learning_rate = 1e-6
    config.min_learning_rate = 1e-5
    config.warmup_epochs = 5
    config.weight_decay = 0.05
    config.decay_kernels_only = True
    config.clip_norm = None
    config.model_arguments = {"stochastic_depth_rate": 0.1}
    config.distillation.hard = True
    config.label_smoothing = 0.1
    return config


def augmentation(mean, std):
    """Gives DeiT's augmentation for images of a mean and a standard deviation.

    Its name for RandAugment is rand-m9-mstd0.5-inc1.
    """
    fill = tuple(round(255 * channel) for channel in mean)
    return (
        ("RandomResizedCrop", {"area": (0.08, 1.0), "aspect": (3 / 4, 4 / 3), "interpolation": "bicubic"}),
        ("RandomFlip", {"mode": "horizontal"}),
        (
            "RandAugmentIncreasing",
            {
                "num_ops": 2, "magnitude": 9, "magnitude_std": 0.5, "chance": 0.5, "interpolation": "bicubic",
                "fill": fill,
            },
        ),
        (
            "RandomErasing",
            {"chance": 0.25, "area": (0.02, 1 / 3), "aspect": (0.3, 1 / 0.3), "mean": mean, "std": std},
        ),
        ("MixUpOrCutMix", {"mixup_alpha": 0.8, "cutmix_alpha": 1.0, "cutmix_chance": 0.5}),
    )  # fmt: skip
