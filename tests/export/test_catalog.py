"""docs/models.md says what the models are now, and the command that writes it can be interrupted."""

import json
import pathlib

import keras
import pytest

from hsvit_keras.models import registry
from tests.models.counting import trainable

if keras.backend.backend() != "tensorflow":
    pytest.skip("the table is about mobile artifacts", allow_module_level=True)

from export import catalog
from export.cataloguing import models_table
from hsvit_runtime.errors import InputError, MissingFileError
from tests.command_line.in_process import call
from tests.parameters import exhaustive_but, slow_but

pytestmark = pytest.mark.tensorflow

DOCS = pathlib.Path(catalog.__file__).parents[1] / "docs"
ROWS = json.loads((DOCS / "models.json").read_text())
ONE_A_CLASS = sorted(
    {registry._VARIANTS[name].model_class: name for name in models_table.listed_models()}.values()
)
QUICK = "levil"


def smallest_of_each_class():
    """The whole table takes an hour and 13 GB to make anew; these tell whether one has to."""
    by_size = sorted(ROWS, key=lambda name: -ROWS[name]["parameters"])
    return sorted({ROWS[name]["class"]: name for name in by_size}.values())


# ---- the table in docs -----------------------------------------------------------------------------
def test_every_model_stands_in_the_table():
    assert list(ROWS) == models_table.listed_models(), "python -m export.catalog writes what is missing"


def test_the_table_says_what_the_numbers_say():
    assert (DOCS / "models.md").read_text() == models_table.markdown(ROWS)


def test_what_the_registry_knows():
    for name, row in ROWS.items():
        variant = registry._VARIANTS[name]
        known = {
            **models_table.origin(variant.model_class),
            "input": list(variant.input_shape),
            "classes": variant.num_classes,
        }
        assert {key: row[key] for key in known} == known, name


@pytest.mark.parametrize("name", slow_but(ONE_A_CLASS, models_table.listed_models()))
def test_parameters(name):
    assert trainable(name) == ROWS[name]["parameters"]


@pytest.mark.parametrize("name", exhaustive_but([QUICK], sorted({QUICK, *smallest_of_each_class()})))
def test_artifacts(name):
    row, _ = models_table.facts(name)
    assert row["macs"] == ROWS[name]["macs"]
    for preset in models_table.PRESETS:
        expected = ROWS[name][preset]
        assert row[preset]["partitions"] == expected["partitions"]
        assert row[preset]["undelegated_ops"] == expected["undelegated_ops"]
        assert row[preset]["bytes"] == pytest.approx(expected["bytes"], rel=0.01)  # names take some


def test_one_partition_or_the_reason_why_not():
    for name, row in ROWS.items():
        for preset in models_table.PRESETS:
            assert (row[preset]["partitions"] == 1) == (row[preset]["undelegated_ops"] == []), name


# ---- the command -----------------------------------------------------------------------------------
def artifact(partitions=1, ratio=1.0, left_out=()):
    return {
        "bytes": 1_234_567,
        "partitions": partitions,
        "undelegated_ops": list(left_out),
        "latency_ratio": {"value": ratio, "low": ratio, "high": ratio, "confidence": 0.95},
    }


def row(name, **artifacts):
    variant = registry._VARIANTS[name]
    return {
        **models_table.origin(variant.model_class),
        "input": list(variant.input_shape),
        "classes": variant.num_classes,
        "parameters": 7,
        "macs": 1_250_000_000,
        "float32": artifact(),
        "dynamic": artifact(),
        "device": {"cpu": "A CPU", "litert_version": "2.3", "threads": 1, "other_load_cores": 0.5},
        **artifacts,
    }


@pytest.fixture
def examined(monkeypatch):
    """Names in the order in which they are examined; `"stop"` breaks off."""
    names = []

    def examine(wanted, *, blocks, runs):
        for name in wanted:
            if "stop" in names:
                raise KeyboardInterrupt
            names.append(name)
            yield name, row(name)

    monkeypatch.setattr(models_table, "examine", examine)
    return names


def test_models_are_examined_in_the_order_asked_for_and_written_sorted(tmp_path, examined):
    call(catalog, "--models=vit,hsvit_*,vi?", f"--output={tmp_path / 'm.md'}")
    assert examined == ["vit", "hsvit_c2a2", "hsvit_c3a4", "hsvit_c4a8", "hsvit_tiny", "vil", "vin", "vip"]
    rows = json.loads((tmp_path / "m.json").read_text())
    assert list(rows) == sorted(examined)
    assert (tmp_path / "m.md").read_text() == models_table.markdown(rows)


def test_an_interrupted_run_goes_on(tmp_path, examined):
    models_table.write(tmp_path / "m.md", ["vit"])
    examined.append("stop")
    with pytest.raises(KeyboardInterrupt):
        models_table.write(tmp_path / "m.md", ["vip", "vin"])
    examined.clear()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.json", "m.md"]
    models_table.write(tmp_path / "m.md", ["vit", "vip", "vin"])
    assert examined == ["vip", "vin"]
    models_table.write(tmp_path / "m.md", ["vit"], again=True)
    assert examined == ["vip", "vin", "vit"]


def test_what_was_found_before_an_interruption_is_kept(tmp_path, monkeypatch):
    def examine(names, **_):
        yield "vit", row("vit")
        raise KeyboardInterrupt

    monkeypatch.setattr(models_table, "examine", examine)
    with pytest.raises(KeyboardInterrupt):
        models_table.write(tmp_path / "m.md")
    assert list(json.loads((tmp_path / "m.json").read_text())) == ["vit"]
    assert not (tmp_path / "m.md").exists()


def test_models_that_are_no_longer_registered_are_dropped(tmp_path, examined):
    (tmp_path / "m.json").write_text(json.dumps({"of_old": row("vit"), "vit": row("vit")}))
    models_table.write(tmp_path / "m.md", ["vit"])
    assert examined == []
    assert "of_old" not in (tmp_path / "m.md").read_text()


def test_wrong_options(tmp_path, examined):
    with pytest.raises(InputError, match=r"no model of images matches --models=vitt"):
        models_table.write(tmp_path / "m.md", ["vit", "vitt"])
    with pytest.raises(InputError, match=r"end in \.md; received .*m\.txt"):
        models_table.write(tmp_path / "m.txt")
    with pytest.raises(MissingFileError, match=r"there is no folder .*nowhere"):
        models_table.write(tmp_path / "nowhere" / "m.md")
    (tmp_path / "m.json").write_text('{"vit": ')
    with pytest.raises(InputError, match=r"m\.json is no JSON.*remove it"):
        models_table.write(tmp_path / "m.md")
    assert examined == []
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]


def test_cells():
    """By hand, column by column."""
    rows = {"vit": row("vit", float32=artifact(ratio=12.34), dynamic=artifact(ratio=0.3014))}
    (line,) = (line for line in models_table.markdown(rows).splitlines() if "`vit`" in line)
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == [
        "`vit`", "32 x 32 x 3", "10", "7", "1,250.0 M", "1.23", "1.23", "1, 1", "12.3", "0.30"
    ]  # fmt: skip


def test_what_is_left_out_is_named_below():
    left = [{"op": "TILE", "count": 2, "reason": "XNNPACK has no such op"}]
    text = models_table.markdown({"vit": row("vit", dynamic=artifact(3, left_out=left))})
    assert "| 1, 3 |" in text
    assert "- `vit`, `dynamic`: XNNPACK leaves out 2 TILE (XNNPACK has no such op)." in text
    assert "leaves out" not in models_table.markdown({"vit": row("vit")})


def test_machines_are_named():
    other = {"cpu": "Another", "litert_version": "2.3", "threads": 1, "other_load_cores": None}
    text = models_table.markdown({"vit": row("vit"), "vip": row("vip")})
    assert "1 thread,\n  on A CPU, LiteRT 2.3, where other processes kept 0.5 CPU cores busy." in text
    text = models_table.markdown({"vit": row("vit"), "vip": row("vip", device=other)})
    assert "on A CPU, LiteRT 2.3; Another, LiteRT 2.3, where" in text
    text = models_table.markdown({"vip": row("vip", device=other)})
    assert "kept an unknown number of CPU cores busy" in text


@pytest.mark.slow
def test_a_model_against_itself(monkeypatch):
    """The whole way of a row: facts and latencies of one small model, which is its own reference."""
    monkeypatch.setattr(models_table, "REFERENCE", "hsvit_tiny")
    ((name, found),) = models_table.examine(["hsvit_tiny"], blocks=3, runs=20)
    assert name == "hsvit_tiny"
    assert found["parameters"] == 54_522
    assert found["input"] == [32, 32, 1]
    for preset in models_table.PRESETS:
        assert set(found[preset]) == {"bytes", "partitions", "undelegated_ops", "latency_ratio"}
        assert 0.5 < found[preset]["latency_ratio"]["value"] < 2
    assert found["dynamic"]["bytes"] < 0.6 * found["float32"]["bytes"]
    assert json.loads(json.dumps(found)) == found


def test_every_paper_has_a_link():
    for name in ONE_A_CLASS:
        found = models_table.origin(registry._VARIANTS[name].model_class)
        assert found["link"].startswith("https://arxiv.org/abs/"), name
        assert found["paper"] and not found["paper"].endswith((",", "."))
