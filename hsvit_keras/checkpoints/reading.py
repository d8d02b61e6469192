"""`read_state_dict`: the authors' weights, from a file or a mapping, as NumPy arrays by name.

A file is `.npz`, `.safetensors` or what `torch.save` writes, which is a pickle: a program that may call
any function. The unpickler here resolves only the few names that tensors need, to stand-ins without side
effects, and refuses a file that uses any other. PyTorch is not needed.
"""

import copyreg
import functools
import io
import math
import pathlib
import pickle
import struct
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from hsvit_runtime import input_files
from hsvit_runtime.errors import InputError, MissingPackageError

_STORAGES = {  # PyTorch's name: ours
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}
_SAFETENSORS = {  # safetensors' name: ours
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
    "C64": "complex64",
}
_MOST_SHRUNK = 100  # times that a member of an archive may be larger than all of it
_STREAM_MAGIC = 0x1950A86A20F9469CFC6C  # first pickle of a file of torch.save before its zip format


def read_state_dict(source):
    """Reads the tensors of a PyTorch state dict.

    A checkpoint dict around it, such as `{"state_dict": {...}, "epoch": 3}`, is unwrapped, and the prefix
    `module.` of `DataParallel` is removed. bfloat16 becomes float32; other types stay.

    Args:
        source: mapping of str to array (NumPy, Keras, PyTorch, whatever has `__array__`), or path to a
            `.npz`, `.safetensors`, `.pt`, `.pth`, `.pyth`, `.ckpt` or `.bin` file.

    Returns:
        Dict of str to `np.ndarray`, in the order of the source; sorted by name from `.safetensors`.

    Raises:
        ValueError: the file is damaged, not of these kinds, or asks for more than tensors; an entry is no
            tensor; there is no tensor at all, or it is not clear which entry holds the weights.
        OSError: the file is missing or not readable.
        ImportError: a `.safetensors` file without the package safetensors.
    """
    if isinstance(source, Mapping):
        name, entries = "the state dict", source
    else:
        name, entries = str(source), _read_file(source)
    state_dict = {}
    for key, value in _unwrapped(name, entries).items():
        if not isinstance(key, str) or not _is_tensor(value):
            raise InputError(f"{name}: entry {key!r} is a {_kind(value)}; a tensor with a name is needed")
        try:
            state_dict[key] = _as_array(value)
        except Exception as error:
            raise InputError(f"{name}: tensor {key!r} cannot be read: {_one_line(error)}") from error
    if not state_dict:
        raise InputError(f"{name} holds no tensors")
    if all(key.startswith("module.") for key in state_dict):
        return {key.removeprefix("module."): array for key, array in state_dict.items()}
    return state_dict


def _unwrapped(name, entries):
    """`entries`, or the one entry that is a state dict; other entries, such as the epoch, are dropped."""
    if not isinstance(entries, Mapping):
        raise InputError(f"{name} holds a {_kind(entries)}; a dict of tensors is needed")
    for wanted in (all, any):  # with `any` the caller names the entry that is no tensor
        nested = [
            key
            for key, value in entries.items()
            if isinstance(value, Mapping) and value and wanted(map(_is_tensor, value.values()))
        ]
        if nested:
            break
    else:
        return entries
    # Tensors of one element are metrics, not weights.
    loose = [key for key, value in entries.items() if _is_tensor(value) and math.prod(np.shape(value)) > 1]
    if loose or len(nested) > 1:
        raise InputError(
            f"{name} has tensors in several places: {', '.join(map(repr, nested + loose))}; "
            f"save the one that holds the model's weights as a file of its own"
        )
    return entries[nested[0]]


def _is_tensor(value):
    return hasattr(value, "__array__")


def _kind(value):
    if _is_tensor(value):
        return "tensor"
    return "dict" if isinstance(value, Mapping) else type(value).__name__


def _as_array(tensor):
    if hasattr(tensor, "detach"):  # PyTorch's own, perhaps on a GPU
        tensor = tensor.detach().cpu()
        tensor = tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor
    array = np.asarray(tensor)
    if array.dtype.name == "bfloat16":
        array = array.astype("float32")
    if array.dtype.kind not in "biufc":
        raise InputError(f"its elements are {array.dtype}; numbers are needed")
    return array


def _one_line(error):
    return " ".join(str(error).split()) or type(error).__name__


# Files


def _read_file(source):
    try:
        path = pathlib.Path(source)
    except TypeError:
        raise InputError(
            f"a state dict is a mapping of arrays or a path; received a {type(source).__name__}"
        ) from None
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path} has to end in one of {', '.join(_READERS)}")
    data = input_files.read(path, may_be_empty=True)
    try:
        return reader(data)
    except ImportError:
        raise
    except InputError as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    except Exception as error:  # a damaged file can fail in any way
        raise InputError(f"{path} is damaged or no {path.suffix} file") from error


def read_npz(data):
    """The arrays in the bytes of an `.npz` file: dict from name to `np.ndarray`."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise InputError("it is not a whole zip archive, which np.savez writes")
    _check_sizes(zipfile.ZipFile(io.BytesIO(data)), len(data))
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return {name: _member(archive, name) for name in archive.files}


def _member(archive, name):
    try:
        return archive[name]
    except Exception as error:  # a damaged file can fail in any way
        raise InputError(f"its entry {name!r} is damaged, or no array of numbers") from error


def _check_sizes(archive, size):
    """Raises `InputError` if a member says that it is far larger than its archive of so many bytes."""
    for member in archive.infolist():
        if member.file_size > _MOST_SHRUNK * size:
            raise InputError(f"its {member.filename} would have {member.file_size / 1e6:,.0f} MB")


def _read_safetensors(data):
    try:
        import safetensors
    except ImportError:
        raise MissingPackageError(
            "reading .safetensors needs the package safetensors: pip install safetensors"
        ) from None
    entries = {}
    for key, tensor in sorted(safetensors.deserialize(data)):  # they come in random order
        if tensor["dtype"] not in _SAFETENSORS:
            raise InputError(f"tensor {key!r} has the unknown type {tensor['dtype']}")
        name = _SAFETENSORS[tensor["dtype"]]
        entries[key] = _decoded(np.frombuffer(tensor["data"], _stored(name)).reshape(tensor["shape"]), name)
    return entries


def _read_torch(data):
    return (_read_torch_zip if data.startswith(b"PK\x03\x04") else _read_torch_stream)(data)


def _read_torch_zip(data):
    archive = zipfile.ZipFile(io.BytesIO(data))
    _check_sizes(archive, len(data))
    names = archive.namelist()
    folders = [name.removesuffix("data.pkl") for name in names if name.endswith("/data.pkl")]
    if len(folders) != 1:
        raise InputError("this zip archive has no data.pkl and was not written by torch.save")
    folder = folders[0]
    order = archive.read(f"{folder}byteorder").decode() if f"{folder}byteorder" in names else "little"
    if order not in ("little", "big"):
        raise InputError(f"its byte order is {order!r}; little or big is needed")
    # Tensors that share a storage tend to follow each other.
    read = functools.lru_cache(maxsize=1)(lambda key: archive.read(f"{folder}data/{key}"))
    return _Unpickler(io.BytesIO(archive.read(f"{folder}data.pkl")), read, order).load()


def _read_torch_stream(data):
    """Pickles one after another (magic number, version, system, object, storage keys), then the storages."""
    stream, storages = io.BytesIO(data), {}
    unpickler, version, system, tree, keys = (_Unpickler(stream, storages.__getitem__) for _ in range(5))
    if unpickler.load() != _STREAM_MAGIC:
        raise InputError("it was not written by torch.save")
    version.load(), system.load()
    entries = tree.load()
    for key in keys.load():
        storage = tree.storages[key]
        (count,) = struct.unpack("<q", stream.read(8))
        if count != storage.size:
            raise InputError(f"storage {key!r} has {count} elements; {storage.size} were announced")
        storages[key] = stream.read(storage.nbytes)
        if len(storages[key]) < storage.nbytes:
            raise InputError(f"it ends within storage {key!r}")
    return entries


_READERS = {
    ".npz": read_npz,
    ".safetensors": _read_safetensors,
    ".pt": _read_torch,
    ".pth": _read_torch,
    ".pyth": _read_torch,
    ".ckpt": _read_torch,
    ".bin": _read_torch,
}


def _stored(name, order="little"):
    """The `np.dtype` of elements in a file; NumPy has no bfloat16 and takes its bits."""
    return np.dtype("uint16" if name == "bfloat16" else name).newbyteorder(order)


def _decoded(array, name):
    """A native copy of elements from a file."""
    if name == "bfloat16":  # the upper half of a float32
        return np.asarray(np.left_shift(array, 16, dtype="uint32").view("float32"))
    return array.astype(name)


# Pickles
#
# A pickle can reach the values of _GLOBALS and the results of calling them, nothing else. All of these are
# strings, tuples and a dict without attributes, which the opcode BUILD cannot change.


class _Unpickler(pickle.Unpickler):
    """Loads an object tree in which tensors are `_Tensor` and storages stay where they are.

    Args:
        stream: binary file at the start of the pickle.
        read: function from a storage key to its bytes, called when a tensor becomes an array.
        order: `"little"` or `"big"`.
    """

    def __init__(self, stream, read, order="little"):
        super().__init__(stream)
        self.read, self.order, self.storages = read, order, {}
        copyreg.clear_extension_cache()  # objects in it would bypass find_class

    def find_class(self, module, name):
        if (module, name) not in _GLOBALS:
            raise InputError(
                f"its pickle asks for {f'{module}.{name}'!r}, which no tensor needs, and was refused before "
                f"anything ran; save the weights alone, as torch.save(model.state_dict(), path) does"
            )
        return _GLOBALS[module, name]

    def persistent_load(self, pid):
        match pid:
            case ("storage", str(name), str(key), _, int(size), *view) if (
                name in _STORAGES.values() and size >= 0 and view in ([], [None])
            ):
                self.storages[key] = _Storage(name, key, size, self.order, self.read)
                return self.storages[key]
        raise InputError("its pickle describes a storage in an unknown way")


class _Storage(NamedTuple):
    """`size` elements of type `name`, whose bytes `read(key)` returns."""

    name: str
    key: str
    size: int
    order: str
    read: Callable[[str], bytes]

    @property
    def dtype(self):
        return _stored(self.name, self.order)

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize


class _Tensor(NamedTuple):
    """A strided view of a storage; offset and strides count elements."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def __array__(self, dtype=None, copy=None):
        storage, itemsize = self.storage, self.storage.dtype.itemsize
        end = self.offset
        if all(self.shape):
            end += 1 + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True))
        if end > storage.size:
            raise InputError(f"it reaches to element {end} of a storage of {storage.size}")
        data = storage.read(storage.key)
        if len(data) < storage.nbytes:
            raise InputError(f"storage {storage.key!r} has {len(data)} bytes of {storage.nbytes}")
        strides = [stride * itemsize for stride in self.strides]
        return _decoded(
            np.ndarray(self.shape, storage.dtype, data, self.offset * itemsize, strides), storage.name
        )


def _rebuild_tensor(storage, offset, shape, strides, requires_grad=False, hooks=None, metadata=None):
    if not (
        isinstance(storage, _Storage)
        and isinstance(shape, tuple)
        and isinstance(strides, tuple)
        and len(shape) == len(strides)
        and all(isinstance(number, int) and number >= 0 for number in (offset, *shape, *strides))
    ):
        raise InputError("its pickle describes a tensor in an unknown way")
    if metadata:
        raise InputError("it has a tensor that waits to be conjugated or negated (see torch.resolve_conj)")
    return _Tensor(storage, offset, shape, strides)


def _first(value, *_):
    return value


class _Attributeless(dict):
    """Stands in for OrderedDict; forgets the attribute `_metadata` of a state dict."""

    __slots__ = ()

    def __setstate__(self, state):
        pass


class _Inert(NamedTuple):
    """Calls a function of ours; a tuple, since a function has attributes that a pickle could set."""

    function: Callable[..., Any]

    def __call__(self, *arguments):
        return self.function(*arguments)


_GLOBALS = {
    ("collections", "OrderedDict"): _Inert(_Attributeless),
    ("torch", "Size"): _Inert(_first),
    ("torch.nn.parameter", "Parameter"): _Inert(_first),
    ("torch._utils", "_rebuild_parameter"): _Inert(_first),
    ("torch._utils", "_rebuild_parameter_with_state"): _Inert(_first),
    ("torch._utils", "_rebuild_tensor"): _Inert(_rebuild_tensor),
    ("torch._utils", "_rebuild_tensor_v2"): _Inert(_rebuild_tensor),
    **{("torch", storage): name for storage, name in _STORAGES.items()},
    **{("torch", name): name for name in _STORAGES.values()},
}
