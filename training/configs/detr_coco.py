"""Deformable DETR on COCO: Hardware-Aware Vision Transformer Scaling, appendix E, after Deformable DETR.

50 epochs of Adam with 2e-4, a tenth from epoch 40 on, and a weight decay of 1e-4; batches of 32, gradients
that are clipped at a norm of 0.1, mirrored images and the random parts of DETR, as in the program of
Deformable DETR (https://github.com/fundamentalvision/Deformable-DETR).

It differs in that images are stretched to one size, so that the model has static shapes, and in that the
backbone has the learning rate of the rest, not a tenth of it. Backbones are trained on ImageNet first:
`--config.image_model=PATH` names the classifier, such as one of training/configs/deit_imagenet.py.
"""

from training.configs import hsvit_base

SIDE = 800


def get_config():
    config = hsvit_base.get_config()
    config.model = "deformable_detr_resnet50"
    config.model_arguments = {"resizing": {"filter": "bilinear", "size": (SIDE, SIDE)}}
    config.data = "coco"
    config.image_shape = (SIDE, SIDE, 3)
    config.mean = (0.485, 0.456, 0.406)
    config.std = (0.229, 0.224, 0.225)
    config.augmentation = (
        ("RandomPartOrWhole", {"chance": 0.5, "scales": (0.6, 1.0)}),  # shorter sides of 480 to 800
        ("RandomFlip", {"mode": "horizontal"}),
    )
    config.optimizer = "adam"
    config.batch_size = 32
    config.epochs = 50
    config.learning_rate = 2e-4
    config.schedule = "step_decay"
    config.decay_epochs = (40,)
    config.weight_decay = 1e-4
    config.clip_norm = 0.1
    config.validation = "test"
    return config
