"""A small model of every family on digits: 8 bits after training, 8 bits trained, half the parts with the
whole model as teacher.
"""

from ml_collections import ConfigDict

from training.configs import compress_base, digits

_TOKENS = {"hidden_dim": 48, "num_heads": 4, "depth": 4, "mlp_dim": 96}
_XFORMER = {"hidden_dim": 48, "num_heads": 4, "head_dim": 12, "depth": 4}
_HALF = {"heads": 0.5, "mlp_units": 0.5}
# Models that compare all pixels with each other see digits in the size that these come in. So small, turned
# or zoomed ones are blurred as none of the test part is: only whole pixels may move.
_SHIFT = {"height_factor": 0.125, "width_factor": 0.125, "fill_mode": "constant", "interpolation": "nearest"}
_PIXELS = {
    "slim": _HALF,
    "training": {"image_shape": (8, 8, 1), "augmentation": (("RandomTranslation", _SHIFT),)},
}


def get_config():
    training = digits.get_config()
    training.image_shape = (16, 16, 1)
    training.learning_rate, training.warmup_epochs = 1e-3, 2  # plain transformers do not learn faster
    training.epochs = 40
    return ConfigDict(
        {
            "training": training,
            # Arguments of each model, what `slim` leaves of it, and what its training has of its own.
            "models": {
                "hsvit_tiny": {"arguments": {}, "slim": {"groups": 0.5, "kernels": 0.5}},
                "deit_tiny": {"arguments": {**_TOKENS, "patch_size": 2}, "slim": _HALF},
                "pit_ti": {
                    "arguments": {
                        "patch_size": 2, "patch_stride": 2, "depths": (1, 2, 1), "num_heads": (2, 4, 8),
                        "head_dims": (8, 8, 8),
                    },
                    "slim": _HALF,
                },
                "dhvt_t_cifar_p4": {"arguments": _TOKENS, "slim": {**_HALF, "kernels": 0.5}},
                "hvt_ti_1": {"arguments": {**_TOKENS, "patch_size": 2}, "slim": _HALF},
                "vit": {"arguments": {**_XFORMER, "mlp_dim": 96}, **_PIXELS},
                "cct": {"arguments": _XFORMER, **_PIXELS},
                "cvt": {
                    "arguments": {"hidden_dims": (16, 32, 48), "num_heads": (2, 2, 4), "head_dim": 12},
                    **_PIXELS,
                },
                "levit": {"arguments": _XFORMER, **_PIXELS},
                "pix_pit": {
                    "arguments": {
                        "hidden_dim": 48, "num_heads": 4, "head_dim": 12, "depths": (2, 2), "mlp_dim": 96,
                    },
                    **_PIXELS,
                },
                "mlp_mixer": {
                    "arguments": {"hidden_dim": 32, "depth": 4, "patch_size": 2},
                    "slim": {"mlp_units": 0.5},
                },
                "fnet2d": {
                    "arguments": {"hidden_dim": 32, "depth": 4}, "slim": {"mlp_units": 0.5},
                    "training": {"learning_rate": 1e-2},
                },
            },
            # Chains of steps, each from the trained model on.
            "chains": {
                "int8 after training": (("quantize", {"epochs": 0}),),
                "int8 in training": (("quantize", {"epochs": 10, "learning_rate": 1e-4}),),
                "half": (("slim", {"epochs": 20}),),
            },
            "compression": compress_base.get_config(),
        }
    )  # fmt: skip
