"""TimeSformer on Kinetics-400: Hardware-Aware Vision Transformer Scaling, appendix C.

It names clips of 8 x 224 x 224 with one of 32 frames; 15 epochs in batches of 16, SGD with a momentum of
0.9 and a learning rate of 0.005, times 0.1 at epochs 10 and 14; and for the rest the recipe of TimeSformer.
From its program (https://github.com/facebookresearch/TimeSformer) are normalization, augmentation (the
shorter side between 256 and 320, a random crop, mirrored), weight decay and stochastic depth. It evaluates
three crops of a frame; here it is the centre.

The paper starts from models trained on ImageNet: `--config.image_model=PATH` names one.
"""

from training.configs import hsvit_base


def get_config():
    config = hsvit_base.get_config()
    config.model = "timesformer_divided_deit_tiny"
    config.model_arguments = {"stochastic_depth_rate": 0.1}
    config.data = "kinetics"
    config.image_shape = (8, 224, 224, 3)
    config.mean = (0.45, 0.45, 0.45)
    config.std = (0.225, 0.225, 0.225)
    config.augmentation = (
        ("RandomShorterSide", {"sides": (256, 320)}),
        ("RandomFlip", {"mode": "horizontal"}),
    )
    config.batch_size = 16
    config.epochs = 15
    config.optimizer = "sgd"
    config.learning_rate = 0.005
    config.weight_decay = 1e-3  # 1e-4 in PyTorch's SGD with this momentum
    config.schedule = "step_decay"
    config.decay_epochs = (10, 14)
    config.clip_norm = None
    return config
