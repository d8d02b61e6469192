"""What `training.compress` does: the steps, and how a model is trained within each of them.

Settings of None are those of the run that trained the model, in the config.json beside it.
"""

from ml_collections import ConfigDict
from ml_collections.config_dict import placeholder

from training.configs import hsvit_base


def get_config():
    """Gives the table of settings; a file of a chain of one's own changes what is its own."""
    distillation = hsvit_base.get_config().distillation
    distillation.teachers = ("original",)  # the model as it comes
    return ConfigDict(
        {
            # Pairs of a step's name and its arguments, among which may be any setting of training below:
            # (("slim", {"groups": 8, "epochs": 20}), ("quantize", {"learning_rate": 1e-4}))
            "steps": (),
            # Data.
            "data": placeholder(str),
            "mean": placeholder(tuple),
            "std": placeholder(tuple),
            "augmentation": placeholder(tuple),
            # Training. With 0 epochs a step does without.
            "epochs": 5,
            "learning_rate": 1e-3,
            "warmup_epochs": 0,
            "batch_size": placeholder(int),
            "weight_decay": placeholder(float),
            "label_smoothing": placeholder(float),
            "distillation": distillation,
            "seed": 0,
            # Machine.
            "dtype": placeholder(str),
            "jit": placeholder(bool),
            "num_workers": placeholder(int),
        }
    )
