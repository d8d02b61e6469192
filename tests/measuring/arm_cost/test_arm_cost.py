"""Counts of instructions, against programs and models of which the numbers are known."""

import hashlib
import json
import pathlib
import subprocess

import pytest
from absl import flags

from export import arm_cost as command
from hsvit_runtime.errors import InputError
from measuring import arm_cost
from measuring.arm_cost import counting, emulation, table, toolchain
from tests.command_line.in_process import call

HERE = pathlib.Path(__file__).parent
MISSING = toolchain.missing_packages()
needs_tools = pytest.mark.skipif(bool(MISSING), reason=f"needs Debian packages: {' '.join(MISSING)}")


# ---- without an emulator ---------------------------------------------------------------------------
def test_instructions_between_marks_are_without_those_of_a_mark():
    text = "dot other \n10 100 \n10 107 \n15 150 \n20 194 \n"
    assert emulation._instructions_between_marks(text) == [{"dot": 5, "other": 36}, {"dot": 5, "other": 37}]


def test_a_core_shows_what_its_emulated_processor_has():
    for name, (dot, mmla) in {
        "cortex-a72": (False, False),
        "cortex-a76": (True, False),
        "cortex-x2-i8mm": (True, True),
    }.items():
        features = emulation.CORES[name]["features"].split()
        assert ("asimddp" in features, "i8mm" in features) == (dot, mmla)


def test_the_files_that_a_program_finds(tmp_path):
    (tmp_path / "libraries").mkdir()
    emulation._make_root(tmp_path / "root", emulation.CORES["cortex-a76"], tmp_path / "libraries")
    cpuinfo = (tmp_path / "root/proc/cpuinfo").read_text()
    assert "CPU part\t: 0xd0b\n" in cpuinfo and " asimddp\n" in cpuinfo
    assert (tmp_path / "root/sys/devices/system/cpu/present").read_text() == "0\n"
    assert (tmp_path / "root/lib").resolve() == tmp_path / "libraries"


def test_what_was_counted_on_the_core_is_not_counted_again(tmp_path, monkeypatch):
    calls = []

    def count(path, core, cache):
        calls.append((path.name, core))
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        return {"name": path.name, "sha256": sha256, "instructions": 10 * len(path.read_bytes())}

    monkeypatch.setattr(counting, "count", count)
    one, two, copy = (tmp_path / name for name in ("one", "two", "copy"))
    one.write_text("a"), two.write_text("bb"), copy.write_text("bb")
    known = counting.compare([one, two])
    again = counting.compare([copy, one], known=known)
    assert calls == [("one", "cortex-a76"), ("two", "cortex-a76")]
    found = [(model["name"], model["instructions"], model["ratio"]) for model in again["models"]]
    assert found == [("copy", 20, 1.0), ("one", 10, 0.5)]
    counting.compare([one], "cortex-a72", known=known)
    assert calls[-1] == ("one", "cortex-a72")


@pytest.mark.parametrize(
    ("content", "core", "error", "message"),
    [
        (b"\0\0\0\0TFL3", "cortex-a1", InputError, r"core='cortex-a1' is unknown; known are cortex-a72, "),
        (b"no flatbuffer", "cortex-a76", InputError, r"model is not a \.tflite file"),
        (b"", "cortex-a76", InputError, r"model: it is empty"),
        (None, "cortex-a76", FileNotFoundError, r"there is no model file .*model"),
    ],
)
def test_bad_input(tmp_path, content, core, error, message):
    if content is not None:
        (tmp_path / "model").write_bytes(content)
    with pytest.raises(error, match=message):
        arm_cost.instructions(tmp_path / "model", core, cache=tmp_path)


def test_missing_programs_are_named_by_their_packages(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OSError, match=r"apt-get install gcc gcc-aarch64-linux-gnu qemu-user$"):
        toolchain.prepare(tmp_path)


def test_missing_files_are_named_by_their_packages(monkeypatch):
    monkeypatch.setattr(toolchain.shutil, "which", lambda name: name)
    monkeypatch.setattr(toolchain, "_found", lambda compiler, name: pathlib.Path(name))
    assert toolchain.missing_packages() == ["libc6-dev", "libc6-dev-arm64-cross", "libstdc++6-arm64-cross"]


@pytest.fixture
def counts(monkeypatch):
    """Makes up counts: the letters of a file's name."""

    def run(tools, path, core, *, warmups, runs):
        return [{"dot": 0, "mmla": 0, "fma": 1000 * len(path.stem), "other": run} for run in (0, 2)]

    monkeypatch.setattr(toolchain, "prepare", lambda cache: None)
    monkeypatch.setattr(emulation, "run", run)


@pytest.mark.usefixtures("counts")
def test_models_are_compared_with_the_first(tmp_path):
    for name in ("four", "ab"):
        (tmp_path / name).write_bytes(b"\0\0\0\0TFL3")
    report = counting.compare([tmp_path / "four", tmp_path / "ab"], "cortex-a72")
    first, second = report["models"]
    assert (first["instructions"], first["spread"], first["ratio"]) == (4002, 2, 1.0)
    assert second["ratio"] == 2002 / 4002
    assert sum(second["by_kind"].values()) == second["instructions"]
    header, *lines, note = table.table(report).splitlines()
    assert header.split() == ["model", "instructions", "ratio", "fma", "other"]
    assert [line.split() for line in lines] == [
        ["four", "4,002", "1.000", "4,000", "2"],
        ["ab", "2,002", "0.500", "2,000", "2"],
    ]
    assert note == "instructions of one inference on cortex-a72, ai-edge-litert 2.3.0, one thread"


# ---- with it ---------------------------------------------------------------------------------------
@needs_tools
def test_kinds_of_a_program_whose_instructions_are_known(tmp_path):
    program, counter, out = tmp_path / "kinds", tmp_path / "counter.so", tmp_path / "counts"
    flags = [*toolchain._FLAGS, str(HERE / "kinds.S"), "-nostdlib", "-static", "-o", str(program)]
    subprocess.run(["aarch64-linux-gnu-gcc", *flags], check=True)
    counter = toolchain._build(tmp_path, "counter.c", ".so", "gcc", "-fPIC", "-shared")
    subprocess.run(
        ["qemu-aarch64", "-cpu", "max", "-plugin", f"{counter},out={out}", str(program)], check=True
    )
    (step,) = emulation._instructions_between_marks(out.read_text())
    expected = {"dot": 6, "mmla": 3, "fma": 10, "long_multiply": 8, "load_store": 7, "simd": 6, "sve": 2}
    assert step == {**expected, "other": 2 + 1 + 4 * 2}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """An empty one: what a first user gets."""
    return tmp_path_factory.mktemp("a, cache")


@pytest.fixture(scope="module")
def convolutions(tmp_path_factory):
    """Three convolutions and two dense layers, of 8.49 M multiply-adds, as float32 and int8."""
    import keras

    from tests.export.conftest import convert

    keras.utils.set_random_seed(1)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((32, 32, 3)),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(10),
        ]
    )
    folder = tmp_path_factory.mktemp("convolutions")
    for name, quantized in (("float32", False), ("int8", True)):
        (folder / f"{name}.tflite").write_bytes(convert(model, (1, 32, 32, 3), quantized))
    return folder


MACS = 1024 * 27 * 32 + 256 * 288 * 64 + 64 * 576 * 64 + 4096 * 128 + 1280


@needs_tools
@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "core", "instructions", "kind", "products"),
    [
        ("float32", "cortex-a72", 3_463_938, "fma", 4),
        ("float32", "cortex-a76", 3_346_803, "fma", 4),
        ("float32", "cortex-x2-i8mm", 3_299_741, "fma", 4),
        ("int8", "cortex-a72", 3_276_787, "long_multiply", 8),
        ("int8", "cortex-a76", 1_035_060, "dot", 16),
        ("int8", "cortex-x2-i8mm", 909_154, "mmla", 32),
    ],
)
def test_a_core_runs_its_own_kernels(convolutions, cache, name, core, instructions, kind, products):
    """Counted before by other means; each of an instruction's products is a multiply-add of the model."""
    found = counting.count(convolutions / f"{name}.tflite", core, cache=cache)
    assert found["instructions"] == pytest.approx(instructions, rel=0.005)
    assert MACS <= products * found["by_kind"][kind] < 1.3 * MACS
    assert found["by_kind"]["sve"] == 0
    for other in {"dot", "mmla"} - {kind}:
        assert products * found["by_kind"][other] < 0.02 * MACS
    assert found["spread"] <= 0.001 * found["instructions"]


@needs_tools
@pytest.mark.slow
@pytest.mark.tensorflow
def test_counts_do_not_depend_on_names_folders_or_environment(convolutions, cache, tmp_path, monkeypatch):
    expected = arm_cost.instructions(convolutions / "int8.tflite", cache=cache)
    renamed = tmp_path / "another folder, with a longer name.tflite"
    renamed.write_bytes((convolutions / "int8.tflite").read_bytes())
    monkeypatch.setenv("A_VARIABLE", "of the environment" * 100)
    assert arm_cost.instructions(renamed, cache=tmp_path / "cache") == pytest.approx(expected, rel=0.001)


@needs_tools
@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("variant", ["hsvit_c2a2", "hsvit_c3a4"])
def test_quantized_hsvit_takes_a_third_of_the_instructions(tmp_path, cache, variant):
    import keras
    import numpy as np

    import hsvit_keras
    from hsvit_keras.artifacts.lowering import lower
    from hsvit_keras.artifacts.tflite_conversion import convert

    keras.utils.set_random_seed(0)
    model = hsvit_keras.create_model(variant, input_shape=(32, 32, 3), num_classes=10)
    images = np.random.default_rng(0).normal(size=(8, 32, 32, 3)).astype("float32")
    ranged = hsvit_keras.calibrate(model, [images])
    for preset in ("float32", "int8", "dynamic"):
        content = convert(lower(ranged if preset == "int8" else model), preset)
        (tmp_path / f"{preset}.tflite").write_bytes(content)
    paths = [tmp_path / f"{preset}.tflite" for preset in ("float32", "int8", "dynamic")]
    _, int8, dynamic = counting.compare(paths, "cortex-a76", cache=cache)["models"]
    assert int8["ratio"] <= 0.30
    assert dynamic["ratio"] <= 0.32


@needs_tools
@pytest.mark.slow
@pytest.mark.tensorflow
def test_models_that_do_not_run(tmp_path, cache):
    from tests.export.conftest import convert

    path = tmp_path / "model.tflite"
    path.write_bytes(b"\x1c\0\0\0TFL3" + b"\0" * 8)
    with pytest.raises(InputError, match=r"does not run on cortex-a76: .*; LiteRT cannot read the model$"):
        arm_cost.instructions(path, cache=cache)
    path.write_bytes(convert(lambda x: x + 1.0, (None, 4), False))
    with pytest.raises(
        InputError, match=r"cortex-a76: an input .* open size: export the model with a batch of 1"
    ):
        arm_cost.instructions(path, cache=cache)


@needs_tools
@pytest.mark.slow
def test_a_wheel_of_another_hash_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(toolchain, "_WHEEL_SHA256", "0" * 64)
    with pytest.raises(OSError, match=r"pip cannot fetch ai-edge-litert 2\.3\.0 for ARM: .*0000"):
        toolchain.prepare(tmp_path)
    assert not list(tmp_path.glob("*/libLiteRt.so"))


@needs_tools
@pytest.mark.slow
@pytest.mark.tensorflow
def test_command(convolutions, cache, tmp_path, capsys):
    models = [str(convolutions / f"{name}.tflite") for name in ("float32", "int8")]
    options = [models[0], f"--others={models[1]}", f"--cache={cache}", f"--output={tmp_path}/costs.json"]
    call(command, *options)
    report = json.loads((tmp_path / "costs.json").read_text())
    assert [model["name"] for model in report["models"]] == ["float32.tflite", "int8.tflite"]
    assert capsys.readouterr().out == table.table(report) + "\n"


def test_an_unknown_core_is_refused_by_its_flag():
    with pytest.raises(flags.IllegalFlagValueError, match="--core=cortex-a1"):
        call(command, "model.tflite", "--core=cortex-a1")
