"""One recipe for all models of docs/small_data.md: little data, 32 x 32 pixels, every model the same images.

It is ours: AdamW at DeiT's decay, five epochs of warm-up, and images that are shifted by up to an eighth,
which keeps digits and clothes what they are. No model's authors chose it.
"""

from training.configs import hsvit_base


def get_config(data, mean, std, epochs):
    """Gives the recipe for a data set of grey images.

    Args:
        data: str, the data set.
        mean, std: float, of its pixels of 0 to 1.
        epochs: int.
    """
    config = hsvit_base.get_config()
    config.data = data
    config.image_shape = (32, 32, 1)
    config.mean, config.std = (mean,), (std,)
    config.augmentation = (
        ("RandomTranslation", {"height_factor": 0.125, "width_factor": 0.125, "fill_mode": "constant"}),
    )
    config.batch_size = 64
    config.epochs = epochs
    config.learning_rate = 1e-3
    config.warmup_epochs = 5
    config.weight_decay = 0.05
    config.update({"epsilon": 1e-7, "schedule": "cosine", "clip_norm": 1.0, "decay_kernels_only": True})
    config.dtype = "mixed_bfloat16"
    return config
