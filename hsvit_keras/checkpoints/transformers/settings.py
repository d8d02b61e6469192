"""What the families read from the dict of a config.json."""

from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import FLAG, NUMBER, TEXT, array, count, partial

_LARGEST = 10**5  # of any setting
_DEEPEST = 1000  # blocks; a model of more would take minutes to build before its weights prove it wrong
_DEPTHS = ("depths", "depth", "num_hidden_layers", "n_attn_blocks", "num_meta3d_blocks", "num_block_repeats")


def settings_like(defaults):
    """The JSON schema of settings of the types that a family's defaults have.

    Args:
        defaults: dict.
    """
    return partial(
        **{
            name: _like(value, is_ratio="ratio" in name, most=_DEEPEST if name in _DEPTHS else _LARGEST)
            for name, value in defaults.items()
        }
    )


def _like(value, is_ratio, most):
    if isinstance(value, bool):
        return FLAG
    if isinstance(value, int) and not is_ratio:
        sizes = count(0, most)
        return {"anyOf": [sizes, array(sizes, 1)]}  # a side, or both
    if isinstance(value, int | float):
        return NUMBER
    if isinstance(value, list | tuple):
        return array({"anyOf": [_like(item, is_ratio, most) for item in value]} if value else {})
    return TEXT if isinstance(value, str) else {}


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
