"""What the families read from the dict of a config.json."""

from hsvit_runtime.errors import InputError


def image_shape(config, input_shape):
    """(height, width, channels): `input_shape`, or that of the config, or 224 x 224 pixels."""
    if input_shape is not None:
        return input_shape
    size = config.get("image_size", 224)
    height, width = (size, size) if isinstance(size, int) else size
    return height, width, config["num_channels"]


def check_fixed(config, name, *values):
    """Checks a setting for which our model has no argument.

    Args:
        config: dict.
        name: str, of the setting.
        *values: what it may be.

    Raises:
        InputError: it is something else.
    """
    if config[name] not in values:
        known = " or ".join(map(repr, values))
        raise InputError(f"config.json: {name} has to be {known} here; it is {config[name]!r}")
