"""The recipe of the HSViT paper, section 4.1 (https://arxiv.org/abs/2404.05196).

The paper says nothing of augmentation, normalization, warm-up, label smoothing and which parameters decay.
Augmentation and normalization are those of the authors' program. So are gradients that are clipped at a norm
of 0.01, a cosine that takes one step an epoch, no warm-up, PyTorch's AdamW, by which all parameters decay,
and its epsilon. It trains in 16-bit mixed precision (`--config.dtype=mixed_float16`), here it is float32.
"""

from ml_collections import ConfigDict, FieldReference
from ml_collections.config_dict import placeholder


def get_config():
    """Gives the table of hyper-parameters; each data set's file changes what is its own."""
    config = ConfigDict(
        {
            # Model. Arguments are those of its class, for whatever the variant should have otherwise.
            "model": "hsvit_c2a2",
            "model_arguments": {},
            # Fine-tuning: a .keras file, or a checkpoint folder of the library transformers. Its model is
            # trained on with a new head, in place of the one named above. It decides the channels of images
            # and what its first layer makes of pixels; where it does not say the values of a black and a
            # white pixel in its input, init_input_range does, such as (0, 255).
            "init": placeholder(str),
            "init_input_range": placeholder(tuple),
            # A classifier of images, likewise a file or folder, whose weights a detector's backbone or a
            # TimeSformer starts from.
            "image_model": placeholder(str),
            **fine_tuning(),
            # Data. The model's first layer makes (pixel - mean) / std of pixels of 0 to 1. What is None of
            # these three is found: the size of images from theirs, or as `init` has it, the others from
            # the pixels of the training part.
            "data": "cifar10",
            "image_shape": (32, 32, 3),
            "mean": (0.4914, 0.4822, 0.4465),
            "std": (0.2023, 0.1994, 0.2010),
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
            # Distillation: paths of .keras and .onnx files that teach, see training/fitting/distillation.py,
            # and the values of a black and a white pixel in the input of those that do not say them.
            "distillation": {
                "teachers": (),
                "teacher_input_range": placeholder(tuple),
                "alpha": 0.5,
                "temperature": 3.0,
                "hard": False,
                "features": (),
                "feature_weight": 1.0,
            },
            # Optimization.
            "batch_size": 512,
            "epochs": 300,
            "learning_rate": 1e-3,
            "warmup_epochs": 0,
            "weight_decay": 0.01,
            "label_smoothing": 0.0,
            # "balanced" weighs the loss of an image by the inverse of how many its class has.
            "class_weights": placeholder(str),
            # How many epochs in a row without a better one end the run; None for all epochs.
            "patience": placeholder(int),
            **optimization(),
            "seed": 0,
            # Machine. A jit of None compiles by XLA except on TensorFlow's CPU, where that is slower.
            "dtype": "float32",
            "jit": placeholder(bool),
            "num_workers": 2,
        }
    )
    config.update({"epsilon": 1e-8, "schedule": "cosine_by_epoch", "clip_norm": 0.01})
    return config


def fine_tuning():
    """Which parts of a model are trained, and how fast: by default all alike."""
    return {
        # Pairs of a part and the epochs that it is frozen for, None for all: a pattern of layers' names such
        # as "stage0_*"; a number, all of less depth; "trunk", all but the head: a linear probe.
        "frozen": (),
        # What a layer's learning rate is of that of the layers one deeper, see hsvit_keras/fine_tuning.
        "layer_decay": 1.0,
    }


def optimization():
    """How the optimizer works unless a recipe has it otherwise: what every table of training holds."""
    return {
        # adamw, adam or sgd. Decay takes the learning rate times weight_decay off a weight in each step,
        # beside the gradient: PyTorch's SGD has a weight_decay of (1 - momentum) times this one.
        "optimizer": "adamw",
        "epsilon": 1e-7,  # of Adam and AdamW
        "momentum": 0.9,  # of SGD, like the next
        "nesterov": False,
        # In a line from warmup_learning_rate to learning_rate, then to min_learning_rate: "cosine" in each
        # step, beginning behind the warm-up; "cosine_by_epoch" once an epoch, beginning with the first one;
        # "step_decay" times decay_factor at each of decay_epochs: where there is none it stays as it is.
        "schedule": "cosine",
        "warmup_learning_rate": 0.0,
        "min_learning_rate": 0.0,  # of a cosine
        "decay_epochs": (),
        "decay_factor": 0.1,
        # Whether biases, normalizations, positions and tokens do not decay.
        "decay_kernels_only": False,
        # The norm of all gradients together that is not exceeded.
        "clip_norm": placeholder(float),
        # How much of the average of the weights stays in each step, such as 0.9999. Averaged weights are
        # validated, tested and saved in best.keras; statistics of batch normalization are averages anyway.
        "ema_momentum": placeholder(float),
    }


def flip_and_shift():
    """Gives the usual augmentation of small images, for recipes whose papers and programs name none."""
    return (
        ("RandomFlip", {"mode": "horizontal"}),
        ("RandomTranslation", {"height_factor": 0.125, "width_factor": 0.125, "fill_mode": "constant"}),
    )


def validation():
    """A value that may be replaced by "test"."""
    return FieldReference({"share": 0.1, "seed": 0}, field_type=object)
