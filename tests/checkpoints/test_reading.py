"""`read_state_dict`: right values from real files, and clear refusals.

The files in `data/` were written by PyTorch 2.15 (see `data/make.py`); the values expected of them are
written down here by formula. Damaged and malicious pickles are put together instruction by instruction.
"""

import copyreg
import json
import os
import pathlib
import pickle
import shutil
import struct
import subprocess
import sys
import zipfile

import keras
import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from hsvit_keras.checkpoints import reading
from hsvit_keras.checkpoints.reading import read_state_dict

DATA = pathlib.Path(__file__).parent / "data"
BASE = np.arange(20, dtype="float32").reshape(4, 5)
TENSORS = {
    "float32": np.arange(6, dtype="float32").reshape(2, 3) / 4 - 1,
    "float64": np.arange(3) / 3,
    "float16": np.array([0, 0.125, 0.25], "float16"),
    "bfloat16": np.array([1, -2.5, 3.140625, np.inf, -np.inf, -0.0, 2**-133], "float32"),
    "int64": np.arange(3) - 2**40,
    "int32": np.arange(3, dtype="int32") - 2**20,
    "int16": np.arange(3, dtype="int16") - 2**10,
    "int8": np.array([-128, 127], "int8"),
    "uint8": np.array([0, 255], "uint8"),
    "bool": np.array([True, False]),
    "complex64": np.array([1 + 2j], "complex64"),
    "parameter": np.array([[3]], "float32"),
    "parameter_with_state": np.array([4], "float32"),
    "base": BASE,
    "transposed": BASE.T,
    "slice": BASE[1:, 2:],
    "every_other": BASE[::2, 1::3],
    "scalar_inside": np.array(13, "float32"),
    "expanded": np.array([[1, 1, 1], [2, 2, 2]], "float32"),
    "bfloat16_slice": np.array([[1, 4], [2, 5]], "float32"),
    "scalar": np.array(7, "float32"),
    "empty": np.zeros((0, 3), "float32"),
    "tied.0": np.array([1.5, -2.5], "float32"),
    "tied.1": np.array([1.5, -2.5], "float32"),
}
CHECKPOINT = {
    "0.weight": np.array([0, 1], "float32").reshape(2, 1, 1, 1),
    "0.bias": np.array([10, 11], "float32"),
    "1.weight": np.array([20, 21], "float32"),
    "1.bias": np.array([30, 31], "float32"),
    "1.running_mean": np.array([40, 41], "float32"),
    "1.running_var": np.array([50, 51], "float32"),
    "1.num_batches_tracked": np.array(60),
}
TORCH_SUFFIXES = (".pt", ".pth", ".pyth", ".ckpt", ".bin")
ONE = np.ones((2, 3), "float32")


def assert_same(found, expected):
    assert list(found) == list(expected)
    for key, array in found.items():
        assert type(array) is np.ndarray, key
        assert array.dtype == expected[key].dtype and array.dtype.isnative, key
        assert array.shape == expected[key].shape, key
        np.testing.assert_array_equal(array, expected[key], err_msg=key)


def refusal(source, error=ValueError):
    """The message with which `source` is refused: one line that names a file."""
    with pytest.raises(error) as caught:
        read_state_dict(source)
    message = str(caught.value)
    assert "\n" not in message
    assert not isinstance(source, os.PathLike) or source.name in message
    return message


# Pickles, instruction by instruction


class Code(bytes):
    """Instructions of a pickle that leave one object on its stack."""


def name(module, attribute):
    return Code(b"c%s\n%s\n" % (module.encode(), attribute.encode()))


def call(function, *arguments):
    return Code(function + code(arguments) + b"R")


def code(value):
    if isinstance(value, Code):
        return value
    if isinstance(value, tuple):
        return Code(b"(" + b"".join(map(code, value)) + b"t")
    if isinstance(value, dict):
        return Code(b"}(" + b"".join(code(key) + code(item) for key, item in value.items()) + b"u")
    return Code(pickle.dumps(value, 2)[2:-1])


FLOATS = name("torch", "FloatStorage")


def storage(size=6, key="0", kind=FLOATS, label="storage", view=()):
    return Code(code((label, kind, key, "cpu", size, *view)) + b"Q")


SIX_FLOATS = storage()


def tensor(offset=0, shape=(2, 3), strides=(3, 1), of=SIX_FLOATS, more=()):
    hooks = call(name("collections", "OrderedDict"))
    return call(name("torch._utils", "_rebuild_tensor_v2"), of, offset, shape, strides, False, hooks, *more)


def program(value):
    return b"\x80\x02" + code(value) + b"."


def write_zip(path, pickled, storages=None, **records):
    """What torch.save writes, with `pickled` as its object."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        for key, data in (storages or {}).items():
            archive.writestr(f"archive/data/{key}", data)
        for record, data in records.items():
            archive.writestr(f"archive/{record}", data)
    return path


def write_stream(path, pickled, storages=None):
    """What torch.save wrote before PyTorch 1.6; `storages` are float32."""
    storages = storages or {}
    head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    blocks = [struct.pack("<q", len(data) // 4) + data for data in storages.values()]
    parts = [*map(program, head), pickled, program(list(storages)), *blocks]
    path.write_bytes(b"".join(parts))
    return path


@pytest.fixture(params=[write_zip, write_stream], ids=["zip", "stream"])
def torch_file(request, tmp_path):
    """Writes an object tree, and float32 storages if it has any, as one of torch.save's formats."""

    def write(value, storages=None):
        pickled = value if type(value) is bytes else program(value)
        return request.param(tmp_path / "weights.pt", pickled, storages)

    return write


SIX = {"0": np.arange(6, dtype="<f4").tobytes()}


def test_pickles_of_this_file_are_like_those_of_pytorch(torch_file):
    expected = {"w": np.arange(6, dtype="float32").reshape(2, 3)}
    assert_same(read_state_dict(torch_file({"w": tensor()}, SIX)), expected)


# Real files


@pytest.mark.parametrize("form", ["zip", "stream"])
def test_tensors_of_every_type_and_layout(form):
    assert_same(read_state_dict(DATA / f"tensors_{form}.pt"), TENSORS)


def test_minus_zero_and_subnormal_survive_bfloat16():
    found = read_state_dict(DATA / "tensors_zip.pt")["bfloat16"]
    assert np.signbit(found[5]) and found[6] == np.float32(2.0**-133) > 0


@pytest.mark.parametrize("form", ["zip", "stream"])
def test_checkpoint_with_optimizer_metric_and_data_parallel(form):
    assert_same(read_state_dict(DATA / f"checkpoint_{form}.pt"), CHECKPOINT)


@pytest.mark.parametrize("suffix", [*TORCH_SUFFIXES, ".PTH"])
@pytest.mark.parametrize("kind", [str, pathlib.Path])
def test_suffixes_of_torch(tmp_path, suffix, kind):
    path = tmp_path / f"my weights{suffix}"
    shutil.copy(DATA / "checkpoint_zip.pt", path)
    assert_same(read_state_dict(kind(path)), CHECKPOINT)


def test_arrays_can_be_written_to():
    for key, array in read_state_dict(DATA / "tensors_zip.pt").items():
        assert array.flags.writeable, key


def test_whole_module_is_refused_with_the_way_out():
    message = refusal(DATA / "whole_module.pt")
    assert "'torch.nn.modules.linear.Linear'" in message
    assert "torch.save(model.state_dict(), path)" in message


def test_zip_of_older_pytorch_has_no_byte_order(tmp_path):
    path = tmp_path / "old.pt"
    with zipfile.ZipFile(DATA / "tensors_zip.pt") as new, zipfile.ZipFile(path, "w") as old:
        for record in new.namelist():
            if not record.endswith("byteorder"):
                old.writestr(record.replace("tensors_zip/", "archive/"), new.read(record))
    assert_same(read_state_dict(path), TENSORS)


def test_big_endian_zip(tmp_path):
    kinds = {"w": ("FloatStorage", ">f4", "0"), "n": ("LongStorage", ">i8", "1")}
    tree = {
        key: tensor(of=storage(key=number, kind=name("torch", kind)))
        for key, (kind, _, number) in kinds.items()
    }
    tree["b"] = tensor(0, (2,), (1,), storage(2, "2", name("torch", "BFloat16Storage")))
    storages = {number: np.arange(6, dtype=kind).tobytes() for _, kind, number in kinds.values()}
    storages["2"] = b"\x3f\x80\xc0\x20"  # the upper halves of 1 and -2.5
    path = write_zip(tmp_path / "big.pt", program(tree), storages, byteorder=b"big")
    six = np.arange(6).reshape(2, 3)
    assert_same(
        read_state_dict(path),
        {"w": six.astype("float32"), "n": six, "b": np.array([1, -2.5], "float32")},
    )


@pytest.mark.parametrize("order", ["middle", "bigger", ""])
def test_unknown_byte_order(tmp_path, order):
    path = write_zip(tmp_path / "order.pt", program({"w": tensor()}), SIX, byteorder=order.encode())
    assert f"byte order is {order!r}" in refusal(path)


def test_names_of_older_pytorch(torch_file):
    """Parameters before PyTorch 0.4, and the first rebuild function."""
    hand_made = call(name("torch._utils", "_rebuild_tensor"), SIX_FLOATS, 1, (2,), (2,))
    parameter = call(name("torch.nn.parameter", "Parameter"), hand_made, True)
    assert_same(
        read_state_dict(torch_file({"w": hand_made, "p": parameter}, SIX)),
        {"w": np.array([1, 3], "float32"), "p": np.array([1, 3], "float32")},
    )


def test_sizes_and_types_may_stand_beside_the_weights(torch_file):
    size = call(name("torch", "Size"), (1, 2))
    tree = {"size": size, "dtype": name("torch", "float32"), "model": {"w": tensor()}}
    assert list(read_state_dict(torch_file(tree, SIX))) == ["w"]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_of_pickle(torch_file, protocol):
    """Later protocols frame their content and take names from the stack."""
    pushed = b"\x8c\x05torch\x8c\x0cFloatStorage\x93" if protocol >= 4 else b"ctorch\nFloatStorage\n"
    body = code({"w": tensor(of=storage(kind=Code(pushed)))}) + b"."
    frame = b"\x95" + struct.pack("<Q", len(body)) if protocol >= 4 else b""
    path = torch_file(b"\x80" + bytes([protocol]) + frame + body, SIX)
    np.testing.assert_array_equal(read_state_dict(path)["w"], [[0, 1, 2], [3, 4, 5]])


# Damaged files


@pytest.mark.parametrize("form", ["tensors_zip", "tensors_stream", "checkpoint_zip", "checkpoint_stream"])
def test_truncated_anywhere(tmp_path, form):
    whole, path = (DATA / f"{form}.pt").read_bytes(), tmp_path / "short.pt"
    for length in [*range(0, len(whole), 29), *range(len(whole) - 150, len(whole))]:
        path.write_bytes(whole[:length])
        refusal(path)


@pytest.mark.parametrize("form", ["zip", "stream"])
def test_any_wrong_byte_is_refused_or_read(tmp_path, form):
    """Nothing but `ValueError` leaves the reader, and no tensor grows beyond its file."""
    whole, path = (DATA / f"tensors_{form}.pt").read_bytes(), tmp_path / "wrong.pt"
    refused = 0
    for i in range(0, len(whole), 3):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 0xFF]) + whole[i + 1 :])
        try:
            assert sum(array.nbytes for array in read_state_dict(path).values()) < 10 * len(whole)
        except ValueError as error:
            assert path.name in str(error) and "\n" not in str(error)
            refused += 1
    assert refused > len(whole) / 3 / 4


def test_storage_shorter_than_announced(torch_file):
    short = {"0": SIX["0"][:-4]}
    message = refusal(torch_file({"w": tensor()}, short))
    assert "'0'" in message and ("20 bytes of 24" in message or "5 elements; 6" in message)


BEYOND = {
    "offset": dict(offset=1),
    "shape": dict(shape=(3, 3)),
    "strides": dict(strides=(4, 1)),
    "scalar": dict(offset=6, shape=(), strides=()),
    "empty": dict(offset=7, shape=(0,), strides=(1,)),
    "far": dict(offset=2**70, shape=(1,), strides=(1,)),
    # The reach in bytes wraps around 2**64 to something small.
    "overflow": dict(shape=(2, 2, 2, 2, 2), strides=(2**60,) * 4 + (1,)),
    "overflow_of_a_product": dict(shape=(2**33 + 1, 2), strides=(2**29, 1)),
}


@pytest.mark.parametrize("view", BEYOND.values(), ids=BEYOND)
def test_tensor_beyond_its_storage(torch_file, view):
    message = refusal(torch_file({"good": tensor(), "evil": tensor(**view)}, SIX))
    assert "'evil'" in message and "of a storage of 6" in message


UNKNOWN = {
    "negative_offset": dict(offset=-1),
    "negative_size": dict(shape=(2, -3)),
    "negative_stride": dict(offset=5, strides=(-3, -1)),
    "too_few_strides": dict(strides=(1,)),
    "fractional_size": dict(shape=(2.0, 3)),
    "size_of_strings": dict(shape="23"),
    "number_for_shape": dict(shape=6),
    "number_for_strides": dict(strides=1),
    "string_for_offset": dict(offset="0"),
    "string_for_storage": dict(of=code("torch.FloatStorage")),
    "type_for_storage": dict(of=FLOATS),
    "negative_storage": dict(of=storage(size=-1)),
    "objects_in_storage": dict(of=storage(kind="object")),
    "pointers_in_storage": dict(of=storage(kind="O")),
    "another_persistent_object": dict(of=storage(label="module")),
    "short_persistent_object": dict(of=Code(code(("storage",)) + b"Q")),
    "persistent_string": dict(of=Code(b"P0\n")),
    "view_of_a_storage": dict(of=storage(view=(("1", 0, 3),))),
}


@pytest.mark.parametrize("arguments", UNKNOWN.values(), ids=UNKNOWN)
def test_tensor_that_is_none(torch_file, arguments):
    assert "in an unknown way" in refusal(torch_file({"w": tensor(**arguments)}, SIX))


def test_tensor_that_waits_to_be_conjugated(torch_file):
    assert "conjugated" in refusal(torch_file({"w": tensor(more=({"conj": True},))}, SIX))


@pytest.mark.parametrize("shape, strides", [((3, 0), (1, 1)), ((0, 3), (3, 1)), ((0,), (9,))])
def test_empty_tensors(torch_file, shape, strides):
    path = torch_file({"w": tensor(0, shape, strides, storage(0))}, {"0": b""})
    assert_same(read_state_dict(path), {"w": np.zeros(shape, "float32")})


def test_enormous_expansion_is_refused(torch_file):
    """Stride 0 stays inside any storage, whatever the shape."""
    refusal(torch_file({"w": tensor(shape=(2**50, 2), strides=(0, 0))}, SIX))


def test_storage_that_is_not_there(tmp_path):
    assert "'w'" in refusal(write_zip(tmp_path / "lost.pt", program({"w": tensor()})))
    assert "'w'" in refusal(write_stream(tmp_path / "lost_too.pt", program({"w": tensor()})))


def test_storage_keys_do_not_lead_out_of_their_folder(tmp_path):
    tree = {"w": tensor(of=storage(key="../secret"))}
    refusal(write_zip(tmp_path / "out.pt", program(tree), secret=SIX["0"]))


@pytest.mark.parametrize("count", [-1, 5, 7, 2**62])
def test_stream_with_a_wrong_count(tmp_path, count):
    path = write_stream(tmp_path / "count.pt", program({"w": tensor()}), SIX)
    right = struct.pack("<q", 6)
    path.write_bytes(path.read_bytes().replace(right, struct.pack("<q", count)))
    assert f"{count} elements; 6" in refusal(path)


def test_corrupt_record_of_a_zip(tmp_path):
    path = write_zip(tmp_path / "corrupt.pt", program({"w": tensor()}), SIX)
    path.write_bytes(path.read_bytes().replace(SIX["0"], bytes(24)))
    assert "'w'" in refusal(path)


def test_zip_that_torch_did_not_write(tmp_path):
    with zipfile.ZipFile(tmp_path / "other.pt", "w") as archive:
        archive.writestr("data.txt", "text")
    assert "not written by torch.save" in refusal(tmp_path / "other.pt")


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\0" * 2000, program(5), program([1, 2])])
def test_file_that_torch_did_not_write(tmp_path, content):
    (tmp_path / "other.pth").write_bytes(content)
    refusal(tmp_path / "other.pth")


# Pickles that want to run something


NOTED = []


class Trap:
    """Notes whatever a pickle does to it."""

    def __new__(cls, *arguments):
        NOTED.append("made")
        return super().__new__(cls)

    def __setstate__(self, state):
        NOTED.append("changed")

    @classmethod
    def call(cls, *arguments):
        NOTED.append("called")


@pytest.fixture
def trap():
    NOTED.clear()
    return NOTED


HERE = Trap.__module__
TRAP = name(HERE, "Trap")
CODES = {"EXT1": b"\x82\xf0", "EXT2": b"\x83\xf0\x00", "EXT4": b"\x84\xf0\x00\x00\x00"}  # code 240
ATTACKS = {
    "GLOBAL and REDUCE": call(TRAP),
    "GLOBAL and OBJ": Code(b"(" + TRAP + b"o"),
    "INST": Code(b"(S'an argument'\ni%s\nTrap\n" % HERE.encode()),
    "NEWOBJ": Code(TRAP + b")\x81"),
    "NEWOBJ_EX": Code(TRAP + b")}\x92"),
    "BUILD": Code(TRAP + b")\x81" + code({"a": 1}) + b"b"),
    "STACK_GLOBAL": Code(code(HERE) + code("Trap") + b"\x93)R"),
    "STACK_GLOBAL of a method": Code(code(HERE) + code("Trap.call") + b"\x93)R"),
    **{kind: Code(extension + b")R") for kind, extension in CODES.items()},
}


@pytest.fixture
def extension():
    """Trap as extension 240, as a library may have registered it, in Python's cache of extensions."""
    copyreg.add_extension(HERE, "Trap", 240)
    pickle.loads(CODES["EXT1"] + b".")
    yield
    copyreg.remove_extension(HERE, "Trap", 240)


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_instructions_that_run_something(torch_file, trap, extension, attack):
    pickle.loads(b"\x80\x04" + attack + b".")
    assert trap, "an ordinary unpickler has to fall into this trap, or it shows nothing"
    trap.clear()
    for tree in (attack, {"w": tensor(), "optimizer": {"state": (1, attack)}}, tensor(more=(attack,))):
        message = refusal(torch_file(b"\x80\x04" + code(tree) + b".", SIX))
        assert f"{HERE}.Trap" in message
        assert not trap


@pytest.mark.parametrize("place", range(5))
def test_every_pickle_of_a_stream_is_watched(tmp_path, trap, place):
    parts = [
        program(0x1950A86A20F9469CFC6C),
        program(1001),
        program({}),
        program({"w": tensor()}),
        program([]),
    ]
    parts[place] = program(call(TRAP))
    (tmp_path / "stream.pt").write_bytes(b"".join(parts))
    assert f"'{HERE}.Trap'" in refusal(tmp_path / "stream.pt")
    assert not trap


class Shell:
    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("suffix", TORCH_SUFFIXES)
def test_shell_command_does_not_run(tmp_path, protocol, suffix):
    marker = tmp_path / "marker"
    pickled = pickle.dumps({"w": Shell(f"touch '{marker}'")}, protocol)
    if protocol == 2 and suffix == ".pt":  # once, to see that it would
        pickle.loads(pickled)
        assert marker.exists()
        marker.unlink()
    plain = tmp_path / f"plain{suffix}"
    plain.write_bytes(pickled)
    stream = write_stream(tmp_path / f"stream{suffix}", pickled)
    for path in (plain, stream, write_zip(tmp_path / f"zip{suffix}", pickled)):
        assert f"'{os.system.__module__}.system'" in refusal(path)
        assert not marker.exists()


FORBIDDEN = [
    ("builtins", "eval"),
    ("builtins", "getattr"),
    ("__builtin__", "eval"),
    ("builtins", "dict"),
    ("os", "system"),
    ("collections", "OrderedDict.__init__"),
    ("collections", "_sys.modules"),
    ("collections", "namedtuple"),
    ("torch", "load"),
    ("torch", "FloatStorage.__class__"),
    ("torch", "hub.load"),
    ("torch._utils", "_rebuild_tensor_v2.__globals__"),
    ("torch._utils", "_rebuild_tensor_v2.function.__globals__"),
    ("torch._utils", "_import_dotted_name"),
    ("torch._utils._rebuild_tensor_v2", "__globals__"),
    ("torch.storage", "_load_from_bytes"),
    ("numpy", "load"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("hsvit_keras.checkpoints.reading", "_GLOBALS"),
    ("", ""),
    ("two\nlines", "and\nmore"),
]


@pytest.mark.parametrize("module, attribute", FORBIDDEN)
def test_names_that_are_refused(torch_file, module, attribute):
    pushed = Code(code(module) + code(attribute) + b"\x93")
    message = refusal(torch_file(b"\x80\x04" + code({"w": tensor(), "more": pushed}) + b".", SIX))
    assert repr(f"{module}.{attribute}") in message


STATES = {
    "attributes": {"function": 1, "__call__": 1, "w": 1},
    "slots": (None, {"function": 1}),
    "special": (None, {"__class__": name("collections", "OrderedDict")}),
    "both": ({"__dict__": 1}, {"__defaults__": (), "__new__": 1, "__setstate__": 1}),
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
@pytest.mark.parametrize("target", [".".join(key) for key in reading._GLOBALS])
def test_stand_ins_cannot_be_changed(tmp_path, state, target):
    """BUILD sets attributes of whatever is on the stack: here every name that a pickle can get."""
    stand_in = reading._GLOBALS[tuple(target.rsplit(".", 1))]
    refusal(
        write_zip(
            tmp_path / "change.pt",
            program({"w": tensor(), "x": Code(name(*target.rsplit(".", 1)) + code(state) + b"b")}),
            SIX,
        )
    )
    assert reading._GLOBALS[tuple(target.rsplit(".", 1))] is stand_in
    assert_same(read_state_dict(DATA / "checkpoint_zip.pt"), CHECKPOINT)


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
@pytest.mark.parametrize("made", [tensor(), SIX_FLOATS], ids=["tensor", "storage"])
def test_tensors_and_storages_cannot_be_changed(torch_file, state, made):
    refusal(torch_file({"w": Code(made + code(state) + b"b")}, SIX))


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_dicts_have_no_attributes(torch_file, state):
    """An attribute `items` would replace the method."""
    empty = call(name("collections", "OrderedDict"))
    changed = Code(empty + b"(" + code("w") + tensor() + b"u" + code(state) + b"b")
    assert list(read_state_dict(torch_file(changed, SIX))) == ["w"]


def test_stand_ins_take_no_items_and_are_no_classes(torch_file):
    for target in reading._GLOBALS:
        for instructions in (
            code("k") + code("v") + b"s",
            code("v") + b"a",
            b"(" + code("v") + b"\x90",
            b")\x81",
        ):
            changed = b"\x80\x04" + name(*target) + instructions + b"."
            refusal(torch_file(changed, SIX))


def test_dict_that_holds_itself(torch_file):
    circle = Code(b"}q\x63" + code("self") + b"h\x63s")
    assert "'self' is a dict" in refusal(torch_file(circle))


def test_nothing_is_imported():
    """The reader alone, in a fresh process: NumPy at once, safetensors when asked, PyTorch never."""
    script = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("reading", {reading.__file__!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.read_state_dict({str(DATA / "tensors_zip.pt")!r})
print(*sys.modules.keys() & {{"numpy", "torch", "keras", "tensorflow", "jax", "safetensors"}})
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["numpy"]


# npz and safetensors


def test_npz(tmp_path):
    np.savez(tmp_path / "w.npz", **TENSORS)
    assert_same(read_state_dict(tmp_path / "w.npz"), TENSORS)
    np.savez_compressed(tmp_path / "c.NPZ.npz", **CHECKPOINT)
    assert_same(read_state_dict(str(tmp_path / "c.NPZ.npz")), CHECKPOINT)


def test_npz_with_objects_runs_nothing(tmp_path):
    marker = tmp_path / "marker"
    np.savez(tmp_path / "o.npz", w=ONE, o=np.array([Shell(f"touch '{marker}'")], object))
    assert "its entry 'o' is damaged, or no array of numbers" in refusal(tmp_path / "o.npz")
    assert not marker.exists()


def test_npz_with_text(tmp_path):
    np.savez(tmp_path / "t.npz", w=ONE, title=np.array("a title"))
    message = refusal(tmp_path / "t.npz")
    assert "'title'" in message and "numbers are needed" in message


def test_npz_that_is_none(tmp_path):
    path = tmp_path / "n.npz"
    path.write_bytes(b"no zip")
    assert "zip archive" in refusal(path)
    with path.open("wb") as file:
        np.save(file, ONE)
    assert "zip archive" in refusal(path)
    path.write_bytes(pickle.dumps({"w": 1}))
    assert "zip archive" in refusal(path)
    np.savez(path)
    assert "holds no tensors" in refusal(path)


def test_npz_truncated_or_corrupt(tmp_path):
    path = tmp_path / "n.npz"
    np.savez(path, w=ONE)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        refusal(path)
    path.write_bytes(whole.replace(ONE.tobytes(), bytes(24)))
    refusal(path)


def write_safetensors(path, **tensors):
    """The format by hand: length of the header, header, data. `tensors`: (type, shape, bytes)."""
    header, data = {}, b""
    for key, (kind, shape, content) in tensors.items():
        offsets = [len(data), len(data) + len(content)]
        header[key] = {"dtype": kind, "shape": shape, "data_offsets": offsets}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def test_safetensors(tmp_path):
    unsigned = {kind: np.array([0, np.iinfo(kind).max], kind) for kind in ("uint16", "uint32", "uint64")}
    tensors = {key: array.copy(order="C") for key, array in {**TENSORS, **unsigned}.items()}
    safetensors.numpy.save_file(tensors, tmp_path / "w.safetensors")
    assert_same(read_state_dict(tmp_path / "w.safetensors"), dict(sorted(tensors.items())))


def test_safetensors_with_bfloat16(tmp_path):
    path = write_safetensors(
        tmp_path / "b.safetensors",
        w=("BF16", [2, 1], b"\x80\x3f\x20\xc0"),
        s=("BF16", [], b"\x80\x3f"),
        n=("I64", [1], struct.pack("<q", -5)),
    )
    assert_same(
        read_state_dict(path),
        {"n": np.array([-5]), "s": np.array(1, "float32"), "w": np.array([[1], [-2.5]], "float32")},
    )


def test_safetensors_of_an_unknown_type(tmp_path):
    path = write_safetensors(tmp_path / "f.safetensors", w=("F8_E4M3", [1], b"\0"))
    message = refusal(path)
    assert "'w'" in message and "F8_E4M3" in message


def test_safetensors_truncated(tmp_path):
    path = write_safetensors(tmp_path / "t.safetensors", w=("F32", [2, 3], ONE.tobytes()))
    whole = path.read_bytes()
    np.testing.assert_array_equal(read_state_dict(path)["w"], ONE)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        refusal(path)
    path.write_bytes(whole.replace(b"[2, 3]", b"[2, 4]"))
    refusal(path)


def test_safetensors_without_its_package(tmp_path, monkeypatch):
    path = write_safetensors(tmp_path / "w.safetensors", w=("F32", [2, 3], ONE.tobytes()))
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ImportError, match="pip install safetensors"):
        read_state_dict(path)


# Files and sources in general


def test_missing_file(tmp_path):
    for suffix in reading._READERS:
        assert "there is no file" in refusal(tmp_path / f"none{suffix}", FileNotFoundError)


def test_folder(tmp_path):
    (tmp_path / "folder.pt").mkdir()
    assert "it is a folder, a file is needed" in refusal(tmp_path / "folder.pt", OSError)


@pytest.mark.parametrize("file", ["weights.h5", "weights", "weights.pt.gz", ".pt"])
def test_wrong_suffix(tmp_path, file):
    (tmp_path / file).write_bytes(b"")
    message = refusal(tmp_path / file)
    assert all(suffix in message for suffix in (".npz", ".safetensors", ".pt", ".pth", ".ckpt", ".bin"))


@pytest.mark.parametrize("source", [None, 3, [ONE], ONE])
def test_neither_mapping_nor_path(source):
    assert f"received a {type(source).__name__}" in refusal(source)


class Torch:
    """What is used of a `torch.Tensor`: no NumPy before it is detached, on the CPU, and not bfloat16."""

    def __init__(self, array, dtype="torch.float32", steps=()):
        self.array, self.dtype, self.steps, self.shape = array, dtype, steps, array.shape

    def detach(self):
        return Torch(self.array, self.dtype, (*self.steps, "detach"))

    def cpu(self):
        return Torch(self.array, self.dtype, (*self.steps, "cpu"))

    def float(self):
        return Torch(self.array, "torch.float32", self.steps)

    def __array__(self, dtype=None, copy=None):
        if self.steps != ("detach", "cpu") or self.dtype == "torch.bfloat16":
            raise TypeError("can't convert:\nit is elsewhere")
        return self.array


def test_mapping_of_all_kinds_of_arrays():
    source = {
        "numpy": ONE,
        "integers": np.arange(3),
        "number": np.float32(2),
        "variable": keras.Variable(ONE),
        "tensor": keras.ops.convert_to_tensor(ONE),
        "bfloat16": ONE.astype(ml_dtypes.bfloat16),
        "torch": Torch(ONE),
        "torch_bfloat16": Torch(ONE, "torch.bfloat16"),
    }
    others = {"integers": np.arange(3), "number": np.array(2, "float32")}
    assert_same(read_state_dict(source), {key: others.get(key, ONE) for key in source})


@pytest.mark.parametrize("value, kind", [([1, 2], "list"), (1, "int"), ("text", "str"), (None, "NoneType")])
def test_entry_that_is_no_tensor(value, kind):
    message = refusal({"w": ONE, "odd": value})
    assert f"'odd' is a {kind}" in message
    message = refusal({"epoch": 3, "state_dict": {"w": ONE, "odd": value}})
    assert f"'odd' is a {kind}" in message


def test_array_that_does_not_come():
    message = refusal({"w": Torch(ONE, steps=["elsewhere"])})
    assert "'w'" in message and "can't convert" in message


def test_key_that_is_no_name():
    assert "entry 3 " in refusal({3: ONE})


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.zeros(1, "datetime64[s]")])
def test_array_without_numbers(array):
    assert "'w'" in refusal({"w": array})


@pytest.mark.parametrize("source", [{}, {"module.": {}}, {"epoch": 3}, {"state_dict": {}}])
def test_no_tensors(source):
    refusal(source)


def test_empty_file_of_torch(torch_file):
    assert "holds no tensors" in refusal(torch_file({}))
    assert "holds a list" in refusal(torch_file([1]))
    assert "holds a tensor" in refusal(torch_file(tensor(), SIX))


@pytest.mark.parametrize("entry", ["state_dict", "model", "net", "anything"])
def test_checkpoints_are_unwrapped(entry):
    beside = {
        "epoch": 3,
        "name": "hsvit",
        "best": np.float32(0.9),
        "best_acc1": np.array([0.5]),
        "optimizer": {"state": {0: {"exp_avg": ONE}}, "param_groups": [{"lr": 0.1}]},
        "hyper_parameters": {"lr": 0.1, "class_weights": ONE},
        "loops": {},
        "callbacks": {"checkpoint": {"score": np.float32(1)}},
    }
    assert_same(read_state_dict({**beside, entry: {"w": ONE}}), {"w": ONE})
    assert_same(read_state_dict({entry: {"w": ONE}, **beside}), {"w": ONE})


@pytest.mark.parametrize(
    "source",
    [
        {"state_dict": {"w": ONE}, "state_dict_ema": {"w": ONE}},
        {"state_dict": {"w": ONE}, "state_dict_ema": ONE},
    ],
)
def test_weights_in_several_places(source):
    message = refusal(source)
    assert "'state_dict'" in message and "'state_dict_ema'" in message


def test_prefix_of_data_parallel():
    assert list(read_state_dict({"module.a": ONE, "module.module.b": ONE})) == ["a", "module.b"]
    assert list(read_state_dict({"module.a": ONE, "b": ONE})) == ["module.a", "b"]
    assert list(read_state_dict({"modules.a": ONE})) == ["modules.a"]


def test_source_is_left_as_it_was():
    source = {"module.a": ONE}
    read_state_dict(source)
    assert list(source) == ["module.a"]
