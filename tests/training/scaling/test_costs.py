"""Costs have the right value, are measured once, and say what they lack."""

import hashlib
import json
import time

import numpy as np
import pytest

import hsvit_keras
from hsvit_keras.compression.counting import count_multiply_adds
from hsvit_runtime.onnx_model import OnnxModel
from measuring import arm_cost
from training.scaling import breakdown, costs, throughput
from training.scaling.costs import Cost

DEIT = {
    "name": "deit_tiny", "input_shape": [8, 8, 1], "num_classes": 10, "patch_size": 4, "hidden_dim": 8,
    "depth": 2, "num_heads": 2, "mlp_dim": 16,
}  # fmt: skip


@pytest.fixture
def artifact(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(b"12345")
    return path


def test_costs_of_a_model_need_no_artifact():
    model = costs.build(DEIT)
    assert Cost("multiply_adds")(DEIT) == Cost("multiply_adds")(model) == count_multiply_adds(model)
    # 16 * 8 + 8 patches, 8 class token, 5 * 8 positions; two blocks; norm and head
    block = 2 * 2 * 8 + 4 * (8 * 8 + 8) + 8 * 16 + 16 + 16 * 8 + 8
    assert Cost("parameters")(DEIT) == 136 + 8 + 40 + 2 * block + 16 + 90


def test_a_configuration_is_measured_once(tmp_path, monkeypatch):
    measured = []
    monkeypatch.setitem(costs._OF_MODEL, "parameters", lambda model: measured.append(model) or 7)
    assert (
        Cost("parameters", tmp_path)(DEIT) == Cost("parameters", tmp_path)(dict(reversed(DEIT.items()))) == 7
    )
    assert len(measured) == 1
    Cost("parameters", tmp_path)({**DEIT, "depth": 3})
    assert len(measured) == 2
    row, _ = map(json.loads, (tmp_path / "costs.jsonl").read_text().splitlines())
    assert row == {"cost": "parameters", "configuration": DEIT, "value": 7, "unit": "parameters"}


def test_settings_and_preset_are_part_of_what_is_remembered(tmp_path, monkeypatch):
    """Stands in for the emulator, and for the conversion."""
    monkeypatch.setattr(
        arm_cost, "instructions", lambda path, core: {"cortex-a72": 72, "cortex-a76": 76}[core]
    )
    monkeypatch.setattr(costs, "convert", lambda model, preset, suffix: preset.encode())
    assert Cost("arm_instructions", tmp_path, core="cortex-a72")(DEIT) == 72
    assert Cost("arm_instructions", tmp_path)(DEIT) == 76
    assert Cost("artifact_bytes", tmp_path)(DEIT) == len("float32")
    assert Cost("artifact_bytes", tmp_path, preset="dynamic")(DEIT) == len("dynamic")
    assert len((tmp_path / "costs.jsonl").read_text().splitlines()) == 4
    names = sorted(path.name.partition("_")[2] for path in (tmp_path / "artifacts").iterdir())
    assert names == ["dynamic.tflite", "float32.tflite"]


def report(path, p50, sha256):
    """A report of the benchmark's schema, with one number in it."""
    from measuring import benchmark_report

    models = [
        {"sha256": digest, "latency_ms": {"p50": latency}, "accelerator": {"used": on, "requested": "gpu"}}
        for digest, latency, on in ((None, 1.0, "cpu"), (sha256, p50, "cpu"), (sha256, p50 / 3, None))
    ]
    path.write_text(json.dumps({"models": models}))
    return benchmark_report


REPORTS = {"phone_report": "the Android app", "browser_report": "the web page"}


@pytest.mark.once
@pytest.mark.parametrize("cost", REPORTS)
def test_a_report_is_searched_for_the_content_of_the_file(cost, artifact, tmp_path, monkeypatch):
    digest = hashlib.sha256(b"12345").hexdigest()
    monkeypatch.setattr(report(tmp_path / "some.json", 4.5, digest), "check", lambda content: None)
    settings = {"report": tmp_path / "some.json"}
    assert Cost(cost, **settings).of_artifact(artifact) == 4.5
    assert Cost(cost, accelerator="gpu", **settings).of_artifact(artifact) == 1.5
    with pytest.raises(ValueError, match=r"has no latency of .*model.tflite on npu: measure this file with "):
        Cost(cost, accelerator="npu", **settings).of_artifact(artifact)
    artifact.write_bytes(b"another")
    with pytest.raises(ValueError, match=f"measure this file with {REPORTS[cost]}, and give the report anew"):
        Cost(cost, **settings).of_artifact(artifact)


@pytest.mark.once
@pytest.mark.parametrize("cost", REPORTS)
def test_what_is_no_report_is_named(cost, artifact, tmp_path):
    for content in ('{"models": []}', "no JSON"):
        (tmp_path / "some.json").write_text(content)
        with pytest.raises(ValueError, match=f"some.json is no report of {REPORTS[cost]}: "):
            Cost(cost, report=tmp_path / "some.json").of_artifact(artifact)


@pytest.mark.once
def test_a_command_of_the_user_measures(artifact, tmp_path):
    script = tmp_path / "measure me.sh"
    script.write_text('echo "on a phone"; wc -c < "$1"\n')
    assert Cost("phone_command", command=f"sh '{script}' {{artifact}}").of_artifact(artifact) == 5.0
    script.write_text('echo "Inference timings in us: Init: 5000, First inference: 900, Warmup (avg): 800, '
                      'Inference (avg): 2500"\n')  # fmt: skip
    assert Cost("phone_command", command=f"sh '{script}' {{artifact}}").of_artifact(artifact) == 2.5


@pytest.mark.once
@pytest.mark.parametrize(
    "command, message",
    [
        ("true", r"the command has to say where the file goes, as \{artifact\}; received 'true'"),
        ("echo {artifact}", r"the last line .* has to be a number of milliseconds, .*model.tflite"),
        ("sh -c 'echo no phone >&2; exit 3' {artifact}", "the command ended with status 3: no phone"),
    ],
)
def test_a_command_that_measures_nothing_is_named(artifact, command, message):
    with pytest.raises(ValueError, match=message):
        Cost("phone_command", command=command).of_artifact(artifact)


@pytest.mark.once
@pytest.mark.parametrize(
    "name, settings, message",
    [
        ("flops", {}, "there is no cost 'flops'; there are multiply_adds, "),
        ("parameters", {"preset": "int4"}, "preset has to be one of float32, .*received preset='int4'"),
        ("parameters", {"core": "a"}, "the cost parameters has no setting 'core'; it has none"),
        ("arm_instructions", {"cores": "a"}, "has no setting 'cores'; it has core"),
        ("phone_report", {}, "the cost phone_report needs a report"),
    ],
)
def test_a_wrong_cost_is_named(name, settings, message):
    with pytest.raises(ValueError, match=message):
        Cost(name, **settings)


@pytest.mark.once
def test_a_model_that_cannot_be_is_named():
    with pytest.raises(ValueError, match=r"no model can be made of .*no argument 'dept'"):
        Cost("parameters")({"name": "deit_tiny", "dept": 3})


@pytest.mark.exhaustive
@pytest.mark.once
@pytest.mark.tensorflow
def test_costs_of_the_artifact(tmp_path):
    """Multiply-adds agree with the graph's; LiteRT takes time; the same file is asked again."""
    model = costs.build(DEIT)
    assert Cost("litert_latency", tmp_path, blocks=1, runs=2)(DEIT) > 0
    with Cost("multiply_adds", tmp_path).artifact(DEIT) as path:
        assert Cost("multiply_adds").of_artifact(path) == count_multiply_adds(model)
        assert Cost("artifact_bytes", tmp_path)(DEIT) == path.stat().st_size
        made = path.stat().st_mtime_ns
    found = breakdown.break_down(Cost("multiply_adds", tmp_path), DEIT)
    assert path.stat().st_mtime_ns == made
    # The first block for 5 tokens; the last for keys and values of 5, and the rest of the class token.
    kinds = found["kinds"]
    assert kinds["MSA-MatMul"] == 2 * 5 * 5 * 8 + 2 * 5 * 8
    assert kinds["Convolution"] == 4 * 16 * 8
    block, last = 5 * (4 * 64 + 2 * 128), 5 * 2 * 64 + 2 * 64 + 2 * 128
    assert kinds["MLP"] == block + last + 8 * 10
    assert sum(kinds.values()) == found["whole"] == count_multiply_adds(model)
    latencies = breakdown.break_down(Cost("litert_latency", tmp_path, blocks=1, runs=2), DEIT)["kinds"]
    assert set(latencies) <= set(breakdown.KINDS) and min(latencies.values()) > 0
    assert {"LayerNorm", "MSA-Softmax", "MSA-Reshape&Transpose"} <= set(latencies)


@pytest.mark.once
def test_breakdowns_are_compared_by_their_cosine():
    one, other = {"kinds": {"MLP": 3, "Others": 4}}, {"kinds": {"MLP": 4, "Others": 3}}
    assert breakdown.distance(one, one) == pytest.approx(0, abs=1e-12)
    assert breakdown.distance(one, other) == pytest.approx(1 - 24 / 25)
    assert breakdown.distance(one, {"kinds": {"LayerNorm": 1}}) == pytest.approx(1)
    lines = breakdown.table({"whole": 14, "kinds": {"MLP": 4, "Others": 3}}, "ms").splitlines()
    assert [line.split()[-1] for line in lines] == ["share", "57.14%", "42.86%", "50.00%"]


# Table 11 of the paper; what is below 0.01 % counts as nothing.
TABLE_11 = {
    "V100": (62.50, 8.95, 17.65, 3.48, 5.17, 0, 2.20),
    "TX2": (34.31, 6.38, 8.03, 5.75, 6.32, 36.38, 2.82),
    "Pixel3": (69.40, 1.59, 21.36, 3.20, 3.30, 0, 1.26),
}


@pytest.mark.once
def test_distances_are_those_of_the_paper():
    """Section 4.2.2: below 0.02 for V100 and Pixel3, above 0.28 for TX2 and any other."""
    kinds = (
        "MLP", "LayerNorm", "MSA-MatMul", "MSA-Softmax", "MSA-Reshape&Transpose", "MSA-Gather", "Others",
    )  # fmt: skip
    found = breakdown.distances(
        {name: {"kinds": dict(zip(kinds, values, strict=True))} for name, values in TABLE_11.items()}
    )
    assert found["V100"]["Pixel3"] == found["Pixel3"]["V100"] < 0.02
    assert min(found["TX2"]["V100"], found["TX2"]["Pixel3"]) > 0.28
    assert all(abs(found[name][name]) < 1e-12 for name in TABLE_11)
    title, _, tx2, _ = breakdown.distances_table(found).splitlines()
    assert title.split() == list(TABLE_11)
    assert tx2.split() == ["TX2", f"{found['TX2']['V100']:.3f}", "0.000", f"{found['TX2']['Pixel3']:.3f}"]


@pytest.mark.once
@pytest.mark.parametrize(("memory", "largest"), [(1_900, 1), (5_199, 2), (5_200, 4), (20_000, 16)])
def test_the_largest_batch_is_the_last_power_of_two_that_fits(memory, largest):
    """A batch takes 800, and 1,100 for each image."""
    tried = []
    take = lambda batch: tried.append(batch) or 800 + 1_100 * batch  # noqa: E731
    assert throughput.largest_batch(take, memory) == largest
    assert tried == [2**power for power in range(len(tried))]
    assert tried[-1] == largest or largest == 1  # what will not fit is not tried, but for the second


@pytest.mark.once
def test_an_accelerator_says_itself_when_it_is_full():
    assert throughput.largest_batch(lambda batch: 0 if batch < 64 else None, float("inf")) == 32
    assert throughput.largest_batch(lambda batch: 0, float("inf"), most=256) == 256
    with pytest.raises(ValueError, match=r"not one image fits into 0.5 GiB of memory"):
        throughput.largest_batch(lambda batch: 2**30, 2**29)
    memory = throughput._AcceleratorMemory()

    def full():
        raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1 byte")

    assert memory.taken_by(full) is None
    with pytest.raises(RuntimeError, match="a bug"):
        memory.taken_by(lambda: (_ for _ in ()).throw(RuntimeError("a bug")))


@pytest.mark.once
def test_the_memory_of_a_call_is_its_largest():
    """64 MiB that are gone at the end, after 128 MiB that were gone before it began."""
    memory, mib = throughput._MainMemory(), 2**20
    np.ones(128 * mib, np.uint8).sum()
    assert 60 * mib < memory.taken_by(lambda: np.ones(64 * mib, np.uint8).sum()) < 80 * mib
    assert memory.free() > 64 * mib


@pytest.mark.exhaustive
@pytest.mark.once
def test_throughput_is_the_time_of_an_image_in_a_batch(monkeypatch):
    model = costs.build(DEIT)
    milliseconds, batch = throughput.milliseconds_per_image(model, memory_gib=0.1, blocks=1, runs=3)
    assert batch > 8 and batch & (batch - 1) == 0
    images = np.zeros((batch, 8, 8, 1), "float32")
    start = time.perf_counter()
    for _ in range(3):
        model.predict_on_batch(images)
    assert 0 < milliseconds < 1e3 * (time.perf_counter() - start) / 3 / batch * 20
    monkeypatch.setattr(throughput, "milliseconds_per_image", lambda *given: (given[1:], None))
    assert Cost("throughput", memory_gib=0.5)(DEIT) == (0.5, 3, 3)


@pytest.mark.exhaustive
@pytest.mark.once
@pytest.mark.tensorflow
def test_onnx_runtime_is_a_target(tmp_path):
    cost = Cost("onnx_latency", tmp_path, blocks=1, runs=2)
    assert cost(DEIT) > 0
    (path,) = (tmp_path / "artifacts").iterdir()
    assert path.suffix == ".onnx" and len(OnnxModel(path).outputs[0].shape) == 2
    with pytest.raises(ValueError, match="onnx_latency is of whole files: only those"):
        breakdown.break_down(cost, DEIT)


def test_registered_names_are_configurations():
    model = {"name": "hsvit_tiny", "input_shape": None, "num_classes": None}
    assert Cost("parameters")(model) == 54_522
    assert hsvit_keras.create_model("hsvit_tiny").count_params() > 54_522
