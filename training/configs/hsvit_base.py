"""The recipe of the HSViT paper, section 4.1 (https://arxiv.org/abs/2404.05196).

The paper says nothing of augmentation, warm-up, label smoothing and which parameters decay. Augmentation is
that of the authors' program. As with PyTorch's AdamW, which the authors use, all parameters decay.
"""

from ml_collections import ConfigDict, FieldReference
from ml_collections.config_dict import placeholder


def get_config():
    """Gives the table of hyper-parameters; each data set's file changes what is its own."""
    return ConfigDict(
        {
            # Model. Arguments are those of its class, for whatever the variant should have otherwise.
            "model": "hsvit_c2a2",
            "model_arguments": {},
            # Data. The model's first layer makes (pixel - mean) / std of pixels of 0 to 1.
            "data": "cifar10",
            "image_shape": (32, 32, 3),
            "mean": (0.4914, 0.4822, 0.4465),
            "std": (0.2470, 0.2435, 0.2616),
            "augmentation": (
                # torchvision's, with its defaults; the program neither flips nor crops.
                ("RandAugment", {"num_ops": 2, "magnitude": 9, "interpolation": "nearest"}),
                ("MixUpOrCutMix", {"mixup_alpha": 1.0, "cutmix_alpha": 1.0, "cutmix_chance": 0.5}),
            ),
            # How many images of the training part there are, the same ones for every seed; None for all.
            # Those to validate on are among them.
            "train_images": placeholder(int),
            # How often an image comes in an epoch, in different batches (repeated augmentation).
            "views": 1,
            # What of an image is evaluated: the centre, its sides divided by those of the resized image.
            "evaluation_crop": {"share": 1.0, "interpolation": "bilinear"},
            # What the best epoch is chosen on: a share of the training part, or the data set's own validation
            # part where it has one; or "test", as the papers do.
            "validation": validation(),
            # Distillation: paths of saved models that teach, see training/fitting/distillation.py.
            "distillation": {
                "teachers": (),
                "alpha": 0.5,
                "temperature": 3.0,
                "hard": False,
                "features": (),
                "feature_weight": 1.0,
            },
            # Optimization: AdamW, the learning rate falls to zero along a cosine.
            "batch_size": 512,
            "epochs": 300,
            "learning_rate": 1e-3,
            "warmup_epochs": 0,
            "weight_decay": 0.01,
            "label_smoothing": 0.0,
            "seed": 0,
            # Machine. A jit of None compiles by XLA except on TensorFlow's CPU, where that is slower.
            "dtype": "float32",
            "jit": placeholder(bool),
            "num_workers": 2,
        }
    )


def flip_and_shift():
    """Gives the usual augmentation of small images, for recipes whose papers and programs name none."""
    return (
        ("RandomFlip", {"mode": "horizontal"}),
        ("RandomTranslation", {"height_factor": 0.125, "width_factor": 0.125, "fill_mode": "constant"}),
    )


def validation():
    """A value that may be replaced by "test"."""
    return FieldReference({"share": 0.1, "seed": 0}, field_type=object)
