"""DHVT's supplement, Table 10: CIFAR-100 and three sets of DomainNet at 224 x 224, 100 epochs from scratch.

The sets of DomainNet are read from folders of class folders: --data=DIR/clipart,DIR/painting,DIR/sketch. The
learning rate is not printed; it is that of CIFAR-100.
"""

from training.configs import dhvt_cifar100, dhvt_imagenet
from training.tables import dhvt
from training.tabulating.paper import Row

_DATA = ("cifar100", "clipart", "painting", "sketch")


def get_table():
    rows = (
        _row("ResNet-50 + L_drloc", "21.2", "3.8", 72.94, 63.93, 53.52, 59.62),
        _row("SwinT + L_drloc", "24.1", "4.3", 66.23, 47.47, 41.86, 38.55),
        _row("CvT-13 + L_drloc", "19.6", "4.5", 74.51, 60.64, 55.26, 57.56),
        _row("T2T-ViT + L_drloc", "21.2", "4.8", 68.03, 52.36, 42.78, 51.95),
        _row("DHVT-T", "6.0", "1.2", 74.78, 58.94, 52.64, 56.66, model="dhvt_t_domainnet"),
        _row("DHVT-S", "23.7", "4.7", 78.64, 64.75, 56.42, 61.35, model="dhvt_s_domainnet"),
    )
    recipes = {**dict.fromkeys(_DATA, _domainnet), "cifar100": _recipe}
    return dhvt.table("Table 10", recipes, rows, image_size=224)


def _recipe():
    config = dhvt_cifar100.get_config()
    config.epochs = 100
    return config


def _domainnet():
    config = _recipe()
    config.data = "folder"
    config.mean, config.std = dhvt_imagenet.get_config().mean, dhvt_imagenet.get_config().std
    return config


def _row(name, parameters, gflops, *accuracy, model=None):
    return Row(
        name,
        model,
        accuracy=dict(zip(_DATA, accuracy, strict=True)),
        parameters=f"{parameters} M",
        multiply_adds=f"{gflops} G",
        why_not="" if model else "the loss L_drloc, dense relative localization, is not in the package",
    )
