"""A small HSViT on Fashion-MNIST: 8 bits after training, 8 bits trained, half the groups."""

from training.configs import compress_study_digits, hsvit_base, hsvit_fashion_mnist


def get_config():
    config = compress_study_digits.get_config()
    config.training = hsvit_fashion_mnist.get_config()
    config.training.update({"batch_size": 128, "epochs": 15})  # for two cores; the paper trains 300
    config.training.mean, config.training.std = (0.2860,), (0.3530,)  # as docs/compression.md was measured
    config.training.augmentation = hsvit_base.flip_and_shift()  # 300 epochs' would be too much for 15
    config.models = {"hsvit_tiny": {"arguments": {}, "slim": {"groups": 0.5}}}
    config.chains = {
        "int8 after training": (("quantize", {"epochs": 0}),),
        "int8 in training": (("quantize", {"epochs": 1, "learning_rate": 1e-4}),),
        "half": (("slim", {"epochs": 10}),),
    }
    return config
