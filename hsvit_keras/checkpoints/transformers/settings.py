"""What the families read from the dict of a config.json."""

from hsvit_runtime.errors import InputError


def image_shape(config, input_shape):
    """(height, width, channels): `input_shape`, or that of the config, or 224 x 224 pixels."""
    if input_shape is not None:
        return input_shape
    size = config.get("image_size", 224)
    height, width = (size, size) if isinstance(size, int) else size
    return height, width, config["num_channels"]


def check_settings(config, **known):
    """Checks settings of which our models have but some values.

    Args:
        config: dict of a config.json.
        **known: for each setting the value that it may have, or a tuple of them.

    Raises:
        ValueError: one has another value.
    """
    for name, values in known.items():
        values = values if isinstance(values, tuple) else (values,)
        if config[name] not in values:
            raise InputError(
                f"{name} of config.json has to be {' or '.join(map(repr, values))}; "
                f"received {name}={config[name]!r}"
            )
