"""What `training.compress` does: the steps, and how a model is trained within each of them."""

from ml_collections import ConfigDict
from ml_collections.config_dict import placeholder

from training.configs import hsvit_base


def get_config():
    """Gives the table of settings; a file for a chain of your own changes what differs."""
    distillation = hsvit_base.get_config().distillation
    # None: "original", the model to be compressed, where outputs are logits of classes; () for no teacher.
    distillation.teachers = placeholder(tuple)
    return ConfigDict(
        {
            # Pairs of a step's name and its arguments, among which may be any setting of training below:
            # (("slim", {"groups": 8, "epochs": 20}), ("quantize", {"learning_rate": 1e-4}))
            "steps": (),
            # Data. What is None is as the model says; needed for a model that does not: the data set, and
            # the values of a black and a white pixel in the model's input, such as (0, 255) or (-1, 1).
            "data": placeholder(str),
            "input_range": placeholder(tuple),
            "augmentation": (),
            "train_images": placeholder(int),
            "views": 1,
            "evaluation_crop": hsvit_base.get_config().evaluation_crop,
            "validation": hsvit_base.validation(),
            # Training. With 0 epochs a step does not train.
            "epochs": 5,
            "learning_rate": 1e-3,
            "warmup_epochs": 0,
            "batch_size": 64,
            "weight_decay": 0.01,
            "label_smoothing": 0.0,
            **hsvit_base.optimization(),
            "distillation": distillation,
            "seed": 0,
            # Machine. A jit of None compiles by XLA except on TensorFlow's CPU, where that is slower.
            "dtype": "float32",
            "jit": placeholder(bool),
            "num_workers": 2,
        }
    )
