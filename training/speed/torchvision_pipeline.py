"""What users of torchvision write to read class folders: the pipeline that ours is compared with."""

# The transform that does what an operation of a recipe does: its arguments -> (class's name, its arguments).
_COUNTERPARTS = {
    "RandomFlip": lambda arguments: ("RandomHorizontalFlip", {}),
}


def operations_without_counterpart(table):
    """The operations of a recipe's augmentation, a list of (name, arguments), that are not compared."""
    return [name for name, _ in table if name not in _COUNTERPARTS]


def epochs(folder, values):
    """Makes a function that reads one epoch.

    Args:
        folder: path of class folders.
        values: plain config, of which `image_shape`, `augmentation`, `batch_size` and `num_workers` count.

    Returns:
        A function that returns how many images it has read.
    """
    import torch
    from torchvision import datasets, transforms

    torch.set_num_threads(1)  # as each worker process of a `DataLoader` does
    size = tuple(values["image_shape"][:2])
    changes = [transforms.Resize(min(size)), transforms.CenterCrop(size)]
    for name, arguments in values["augmentation"]:
        transform, its_arguments = _COUNTERPARTS[name](arguments)
        changes.append(getattr(transforms, transform)(**its_arguments))
    changes += [transforms.PILToTensor(), transforms.ConvertImageDtype(torch.float32)]
    images = datasets.ImageFolder(folder, transforms.Compose(changes))

    def read():
        loader = torch.utils.data.DataLoader(
            images,
            values["batch_size"],
            shuffle=True,
            drop_last=True,
            num_workers=values["num_workers"],
        )
        return sum(len(labels) for _, labels in loader)

    return read
