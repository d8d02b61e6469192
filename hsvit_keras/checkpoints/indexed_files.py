"""`read_weights`: a state dict from one file, or from several files that an index lists.

An index, such as `model.safetensors.index.json`, says in its entry `weight_map` which file beside it holds
each tensor.
"""

import pathlib
from collections.abc import Mapping

from hsvit_keras.checkpoints.json_files import read_json
from hsvit_keras.checkpoints.reading import read_state_dict
from hsvit_runtime.errors import InputError, MissingFileError, listed

INDEX_SUFFIX = ".index.json"


def read_weights(source):
    """Reads the tensors of a state dict.

    Args:
        source: what `read_state_dict` takes, or path to an `.index.json` file.

    Returns:
        Dict of str to `np.ndarray`: what the index lists, and whatever else is in its files.

    Raises:
        ValueError: a file is damaged, or lacks a tensor that the index says it holds; see `read_state_dict`.
        OSError: a file is missing or not readable.
    """
    if isinstance(source, Mapping) or not str(source).endswith(INDEX_SUFFIX):
        return read_state_dict(source)
    index = pathlib.Path(source)
    places = _places(index)
    files = sorted(set(places.values()))
    missing = [name for name in files if not (index.parent / name).exists()]
    if missing:
        raise MissingFileError(f"{index} lists files that are not there: {listed(missing)}")
    parts = {name: read_state_dict(index.parent / name) for name in files}
    lost = [f"{tensor} ({name})" for tensor, name in places.items() if tensor not in parts[name]]
    if lost:
        raise InputError(f"{index} lists tensors that are not in their files: {listed(lost)}")
    everything = {tensor: array for part in parts.values() for tensor, array in part.items()}
    return everything | {tensor: parts[name][tensor] for tensor, name in places.items()}


def _places(index):
    """The name of the file of each tensor. All lie in the folder of the index."""
    places = read_json(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise InputError(f"{index} has no weight_map, which says what file holds each tensor")
    for tensor, name in places.items():
        if not isinstance(name, str) or pathlib.Path(name).name != name:
            raise InputError(
                f"{index}: weight_map gives {tensor} the file {name!r}; a name beside it is needed"
            )
    return places
