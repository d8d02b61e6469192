"""Fashion-MNIST (Xiao, Rasul and Vollgraf, arXiv 1708.07747) from its official idx files."""

import pathlib

from data_sets import idx

# Where Debian's package dataset-fashion-mnist puts the official files.
_DEBIAN_FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")
_CLASS_NAMES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


def load(split, data_dir=None):
    """Opens Fashion-MNIST, 28x28 pixels, grey.

    Args:
        split: "train" (60,000 images) or "test" (10,000 images).
        data_dir: path of the folder with the idx files, plain or .gz; Debian's by default.

    Returns:
        An `ImageDataset`.

    Raises:
        FileNotFoundError: a file is not there.
        ValueError: a file is damaged.
    """
    return idx.open_pair(
        "fashion_mnist",
        split,
        _CLASS_NAMES,
        data_dir or _DEBIAN_FOLDER,
        idx.MNIST_PREFIX[split],
        "Fashion-MNIST",
        "the project zalandoresearch/fashion-mnist on GitHub, or Debian's package dataset-fashion-mnist",
    )
