"""DeiT and DeiT-Scaled on ImageNet: Hardware-Aware Vision Transformer Scaling, appendix E.

It names the optimization; label smoothing and augmentation are those of DeiT (https://arxiv.org/abs/2012.12877,
Table 9). Beyond this the paper repeats augmented images, crops at random where here images are zoomed, and
takes turns between MixUp and CutMix.

From DeiT's program (https://github.com/facebookresearch/deit) are the learning rates around the cosine, which
it changes once an epoch, epsilon, no clipping, stochastic depth, and that biases, normalizations, positions
and tokens do not decay. It is one epoch late: its first two have the learning rate of the warm-up.

Both papers distil from RegNetY-16GF, in hard labels on the distillation token:
`--config.model=deit_tiny_distilled --config.distillation.teachers="('regnety_160.onnx',)"`; without a teacher
the recipe is that of the models without the token.
"""

from training.configs import hsvit_base


def get_config():
    config = hsvit_base.get_config()
    config.model = "deit_tiny"
    config.data = "imagenet"
    config.image_shape = (224, 224, 3)
    config.mean = (0.485, 0.456, 0.406)
    config.std = (0.229, 0.224, 0.225)
    config.augmentation = (
        ("RandomFlip", {"mode": "horizontal"}),
        ("RandomZoom", {"height_factor": (-0.5, 0.0)}),  # in only
        ("RandAugment", {"num_ops": 2, "factor": 0.9}),
        ("MixUp", {"alpha": 0.8}),
        ("RandomErasing", {"factor": 0.25}),
    )
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
