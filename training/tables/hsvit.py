"""What the tables of HSViT have in common, https://arxiv.org/abs/2404.05196."""

from training.configs import (
    hsvit_cifar10,
    hsvit_cifar100,
    hsvit_fashion_mnist,
    hsvit_food101,
    hsvit_tiny_imagenet,
)

PAPER = "https://arxiv.org/abs/2404.05196"
RECIPES = {
    "cifar10": hsvit_cifar10.get_config,
    "cifar100": hsvit_cifar100.get_config,
    "fashion_mnist": hsvit_fashion_mnist.get_config,
    "tiny_imagenet": hsvit_tiny_imagenet.get_config,
    "food101": hsvit_food101.get_config,
}
NOTES = ("the authors' program trains in 16-bit mixed precision and stretches photos to a square",)
