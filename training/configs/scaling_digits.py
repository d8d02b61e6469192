"""Small DeiT on digits; the cost is the instructions of one inference on a phone's CPU core."""

from ml_collections import ConfigDict

from training.configs import digits


def get_config():
    training = digits.get_config()
    training.learning_rate, training.warmup_epochs = 1e-3, 1  # plain transformers do not learn faster
    training.epochs = 12
    return ConfigDict(
        {
            # What is scaled: a family of training/scaling/factors.py, from where, and the values of its
            # factors where they are not the family's own; a factor without values stays.
            "family": "deit",
            "start": {
                "depth": 2, "num_heads": 2, "head_dim": 12, "mlp_ratio": 2, "image_size": 16, "patch_size": 4,
            },
            "factor_values": {
                "head_dim": tuple(range(8, 65, 2)), "image_size": tuple(range(8, 33)),
                "patch_size": (8, 7, 6, 5, 4, 3, 2),
            },
            # What it costs: a cost of training/scaling/costs.py with its settings.
            "cost": {"name": "arm_instructions", "core": "cortex-a76", "preset": "dynamic"},
            # Growth of the cost in each step and how many steps, or `costs`, or `shares` `of` a model.
            "targets": {"growth": 2.0, "steps": 3},
            # By which share of a step's target a candidate may exceed it.
            "tolerance": 0.3,
            # How many models around the last one, how far their factors and their cost may be from its own.
            "permutation": {"candidates": 8, "span": 0.35, "tolerance": 0.1, "seed": 0},
            # Registered models to compare with.
            "references": (),
            # The proxy: how each model is trained, from how many seeds.
            "training": training,
            "seeds": (0,),
        }
    )  # fmt: skip
