"""What users of torchvision write to read class folders: the pipeline that ours is compared with."""

# Operations of a recipe that torchvision has, too: the class there, and what it calls their arguments.
_COUNTERPARTS = {
    "RandomResizedCrop": ("RandomResizedCrop", {"area": "scale", "aspect": "ratio"}),
    "RandomFlip": ("RandomHorizontalFlip", {}),
    "RandAugment": ("RandAugment", {"num_ops": "num_ops", "magnitude": "magnitude"}),
    "TrivialAugmentWide": ("TrivialAugmentWide", {}),
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
    changes = [_transform(transforms, size, *entry) for entry in values["augmentation"]]
    if not any(isinstance(change, transforms.RandomResizedCrop) for change in changes):
        changes = [transforms.Resize(min(size)), transforms.CenterCrop(size), *changes]
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


def _transform(transforms, size, name, arguments):
    """torchvision's counterpart of an operation, with its arguments."""
    theirs, names = _COUNTERPARTS[name]
    given = {names[ours]: value for ours, value in arguments.items() if ours in names}
    if "interpolation" in arguments:
        given["interpolation"] = transforms.InterpolationMode(arguments["interpolation"])
    transform = getattr(transforms, theirs)
    return transform(size, **given) if name == "RandomResizedCrop" else transform(**given)
