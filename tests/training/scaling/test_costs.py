"""Costs have the right value, are measured once, and say what they lack."""

import hashlib
import json

import pytest

import hsvit_keras
from hsvit_keras.compression.counting import count_multiply_adds
from measuring import arm_cost
from training.scaling import costs
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
    monkeypatch.setattr(costs, "convert", lambda model, preset: preset.encode())
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

    with_latency = {"sha256": sha256, "latency_ms": {"p50": p50}}
    path.write_text(json.dumps({"models": [{"sha256": None, "latency_ms": {"p50": 1.0}}, with_latency]}))
    return benchmark_report


@pytest.mark.once
def test_a_phones_report_is_found_by_the_content_of_the_file(artifact, tmp_path, monkeypatch):
    digest = hashlib.sha256(b"12345").hexdigest()
    monkeypatch.setattr(report(tmp_path / "phone.json", 4.5, digest), "check", lambda content: None)
    assert Cost("phone_report", report=tmp_path / "phone.json").of_artifact(artifact) == 4.5
    artifact.write_bytes(b"another")
    with pytest.raises(ValueError, match=r"has no latency of .*model.tflite: measure this file with the And"):
        Cost("phone_report", report=tmp_path / "phone.json").of_artifact(artifact)


@pytest.mark.once
def test_what_is_no_report_is_named(artifact, tmp_path):
    for content in ('{"models": []}', "no JSON"):
        (tmp_path / "phone.json").write_text(content)
        with pytest.raises(ValueError, match=r"phone.json is no report of the Android app: "):
            Cost("phone_report", report=tmp_path / "phone.json").of_artifact(artifact)


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


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.tensorflow
def test_costs_of_the_artifact(tmp_path):
    """Multiply-adds agree with the graph's; LiteRT takes time; the same file is asked again."""
    from training.scaling import breakdown

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
    from training.scaling import breakdown

    one, other = {"kinds": {"MLP": 3, "Others": 4}}, {"kinds": {"MLP": 4, "Others": 3}}
    assert breakdown.distance(one, one) == pytest.approx(0, abs=1e-12)
    assert breakdown.distance(one, other) == pytest.approx(1 - 24 / 25)
    assert breakdown.distance(one, {"kinds": {"LayerNorm": 1}}) == pytest.approx(1)
    lines = breakdown.table({"whole": 14, "kinds": {"MLP": 4, "Others": 3}}, "ms").splitlines()
    assert [line.split()[-1] for line in lines] == ["share", "57.14%", "42.86%", "50.00%"]


def test_registered_names_are_configurations():
    model = {"name": "hsvit_tiny", "input_shape": None, "num_classes": None}
    assert Cost("parameters")(model) == 54_522
    assert hsvit_keras.create_model("hsvit_tiny").count_params() > 54_522
