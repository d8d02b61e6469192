"""Small DeiT on digits; the cost is the time of an image in the largest batch that a GiB of memory holds."""

from training.configs import scaling_digits


def get_config():
    config = scaling_digits.get_config()
    with config.unlocked():
        config.cost = {"name": "throughput", "memory_gib": 1.0}
    return config
